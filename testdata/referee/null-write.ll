; undefined: a write of 1 byte through a null pointer
define void @f(ptr %p) {
  store i8 0, ptr %p
  ret void
}
define i32 @main() {
  call void @f(ptr null)
  ret i32 0
}
