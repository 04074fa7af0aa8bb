; undefined: through argument 1 of f, which is readonly
define void @g(ptr %p) {
  %q = getelementptr i8, ptr %p, i64 4
  store i32 1, ptr %q
  ret void
}
define void @f(ptr readonly %p) {
  %s = alloca ptr
  store ptr %p, ptr %s
  %q = load ptr, ptr %s
  call void @g(ptr %q)
  ret void
}
define i32 @main() {
  %x = alloca i64
  call void @f(ptr %x)
  ret i32 0
}
