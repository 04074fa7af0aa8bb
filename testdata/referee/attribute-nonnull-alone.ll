; defined: 0
define i32 @f(ptr nonnull %x) {
  ret i32 0
}
define i32 @main() {
  %r = call i32 @f(ptr null)
  ret i32 %r
}
