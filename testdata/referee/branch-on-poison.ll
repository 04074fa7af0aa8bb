; undefined: a branch depends on poison
; from: signed overflow: 127 + 1
define i32 @main() {
  %x = add nsw i8 127, 1
  %c = icmp slt i8 %x, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
