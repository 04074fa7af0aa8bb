; defined: 0
define noundef i32 @f() {
  ret i32 3
}
define i32 @main() {
  %r = call i32 @f()
  ret i32 0
}
