; defined: 0
@a = global i32 0
define i32 @f(ptr noundef nonnull %x) {
  ret i32 0
}
define i32 @main() {
  %r = call i32 @f(ptr @a)
  ret i32 %r
}
