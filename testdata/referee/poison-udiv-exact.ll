; undefined: a branch depends on poison
; from: an exact division leaves a remainder: 7 / 2
define i32 @main() {
  %p = udiv exact i8 7, 2
  %c = icmp eq i8 %p, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
