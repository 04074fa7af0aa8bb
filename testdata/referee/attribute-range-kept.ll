; defined: 0
define i32 @f(i32 noundef range(i32 0, 10) %x) {
  ret i32 0
}
define i32 @main() {
  %r = call i32 @f(i32 9)
  ret i32 %r
}
