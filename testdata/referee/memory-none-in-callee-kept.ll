; defined: 1
define void @inner(ptr %p) {
  store i32 1, ptr %p
  ret void
}
define i32 @f() memory(none) {
  %p = alloca i32
  call void @inner(ptr %p)
  %v = load i32, ptr %p
  ret i32 %v
}
define i32 @main() {
  %r = call i32 @f()
  ret i32 %r
}
