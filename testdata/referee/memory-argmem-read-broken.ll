; undefined: a write to %x in f
@g = global i32 0
@c = constant i32 4
define void @f(ptr %p) memory(argmem: read) {
  store i32 1, ptr %p
  ret void
}
define i32 @main() {
  %x = alloca i32
  store i32 0, ptr %x
  call void @f(ptr %x)
  ret i32 0
}
