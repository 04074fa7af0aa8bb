; defined: 0
@g = global i32 0
@c = constant i32 4
define void @f() memory(inaccessiblemem: readwrite) {
  %o = alloca i32
  store i32 1, ptr %o
  %v = load i32, ptr %o
  %w = load i32, ptr @c
  ret void
}
define i32 @main() {
  %x = alloca i32
  store i32 0, ptr %x
  call void @f()
  ret i32 0
}
