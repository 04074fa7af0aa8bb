; defined: 1
define i32 @main() {
  %n = fdiv double 0.0, 0.0
  %c = fcmp uno double %n, 0.0
  %r = zext i1 %c to i32
  ret i32 %r
}
