; defined: 0
define i32 @f(double noundef nofpclass(inf) %x) {
  ret i32 0
}
define i32 @main() {
  %r = call i32 @f(double 1.0)
  ret i32 %r
}
