; defined: 0
define i32 @f(i32  %x) {
  ret i32 0
}
define i32 @main() {
  %r = call i32 @f(i32 noundef 1)
  ret i32 %r
}
