; undefined: a branch depends on poison
; from: nnan, and the result is NaN
define i32 @main() {
  %p = fdiv nnan double 0.0, 0.0
  %c = fcmp oeq double %p, 0.0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
