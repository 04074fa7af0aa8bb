; defined: 0
define noundef range(i32 0, 10) i32 @f() {
  ret i32 0
}
define i32 @main() {
  %r = call i32 @f()
  ret i32 0
}
