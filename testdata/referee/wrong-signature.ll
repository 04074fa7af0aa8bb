; undefined: a call of f with another signature
define i32 @f(i32 %x) {
  ret i32 %x
}
define i32 @main() {
  %p = alloca ptr
  store ptr @f, ptr %p
  %g = load ptr, ptr %p
  %v = call i32 %g(i64 3)
  ret i32 %v
}
