; defined: 4
@c = constant i32 4
define i32 @f() {
  %p = alloca i32
  %v = load i32, ptr @c
  store i32 %v, ptr %p
  %w = load i32, ptr %p
  ret i32 %w
}
define i32 @main() {
  %r = call i32 @f() memory(none)
  ret i32 %r
}
