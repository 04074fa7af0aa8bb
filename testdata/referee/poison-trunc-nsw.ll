; undefined: a branch depends on poison
; from: trunc nsw drops bits that matter
define i32 @main() {
  %p = trunc nsw i32 128 to i8
  %c = icmp eq i8 %p, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
