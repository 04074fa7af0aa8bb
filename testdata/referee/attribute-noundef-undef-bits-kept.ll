; defined: 0
define i32 @f(i32 noundef %x) {
  ret i32 0
}
define i32 @main() {
  %a = alloca i32
  store i16 0, ptr %a
  %v = load i32, ptr %a
  %w = and i32 %v, 65535
  %r = call i32 @f(i32 %w)
  ret i32 %r
}
