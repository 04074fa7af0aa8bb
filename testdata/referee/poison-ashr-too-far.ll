; undefined: a branch depends on poison
; from: the shift is not less than the width
define i32 @main() {
  %p = ashr i8 1, 8
  %c = icmp eq i8 %p, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
