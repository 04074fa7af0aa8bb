; defined: 0
define i32 @f(i32 returned %x) {
  ret i32 %x
}
define i32 @main() {
  %r = call i32 @f(i32 0)
  ret i32 0
}
