; undefined: a call through a null pointer
define i32 @main() {
  %p = alloca ptr
  store ptr null, ptr %p
  %g = load ptr, ptr %p
  call void %g()
  ret i32 0
}
