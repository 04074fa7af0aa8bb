; undefined: a branch depends on poison
; from: unsigned overflow: 1 - 2
define i32 @main() {
  %p = sub nuw i8 1, 2
  %c = icmp eq i8 %p, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
