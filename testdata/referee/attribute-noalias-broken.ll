; undefined: is accessed through argument 1 of f, which is noalias, and otherwise
@g = global i32 0
@c = constant i32 4
define void @f(ptr noalias %p, ptr %q) {
  %v = load i32, ptr %p
  store i32 1, ptr %q
  ret void
}
define i32 @main() {
  %x = alloca i32
  store i32 0, ptr %x
  call void @f(ptr %x, ptr %x)
  store i32 1, ptr %x
  ret i32 0
}
