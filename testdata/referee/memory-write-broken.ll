; undefined: a read of @g in f
@g = global i32 0
@c = constant i32 4
define void @f() memory(write) {
  %v = load i32, ptr @g
  ret void
}
define i32 @main() {
  %x = alloca i32
  store i32 0, ptr %x
  call void @f()
  ret i32 0
}
