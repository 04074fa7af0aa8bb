; no verdict: calls are active at once
define i32 @f(i32 %x) {
  %y = add i32 %x, 1
  %r = call i32 @f(i32 %y)
  ret i32 %r
}
define i32 @main() {
  %r = call i32 @f(i32 0)
  ret i32 %r
}
