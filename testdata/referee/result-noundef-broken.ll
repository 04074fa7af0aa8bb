; undefined: the result of f is poison, against noundef
define noundef i32 @f() {
  ret i32 poison
}
define i32 @main() {
  %r = call i32 @f()
  ret i32 0
}
