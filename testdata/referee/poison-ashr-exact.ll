; undefined: a branch depends on poison
; from: an exact shift drops bits
define i32 @main() {
  %p = ashr exact i8 -3, 1
  %c = icmp eq i8 %p, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
