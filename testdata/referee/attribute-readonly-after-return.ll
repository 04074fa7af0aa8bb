; defined: 0
@g = global ptr null
define void @f(ptr readonly %p) {
  store ptr %p, ptr @g
  ret void
}
define i32 @main() {
  %x = alloca i64
  call void @f(ptr %x)
  %p = load ptr, ptr @g
  store i32 1, ptr %p
  %c = icmp eq ptr %p, %x
  br i1 %c, label %a, label %b
a:
  ret i32 0
b:
  ret i32 1
}
