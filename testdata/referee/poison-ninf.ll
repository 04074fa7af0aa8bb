; undefined: a branch depends on poison
; from: ninf, and the result is infinite
define i32 @main() {
  %p = fdiv ninf double 1.0, 0.0
  %c = fcmp oeq double %p, 0.0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
