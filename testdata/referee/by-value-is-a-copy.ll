; defined: 1
define void @f(ptr byval(i32) %p) {
  store i32 9, ptr %p
  ret void
}
define i32 @main() {
  %x = alloca i32
  store i32 1, ptr %x
  call void @f(ptr byval(i32) %x)
  %v = load i32, ptr %x
  ret i32 %v
}
