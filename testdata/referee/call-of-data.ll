; undefined: which is no function
@a = global i32 0
define i32 @main() {
  %p = alloca ptr
  store ptr @a, ptr %p
  %g = load ptr, ptr %p
  call void %g()
  ret i32 0
}
