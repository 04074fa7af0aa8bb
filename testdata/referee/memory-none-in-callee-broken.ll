; undefined: a write to @g in f
@g = global i32 0
@c = constant i32 4
define void @inner() {
  store i32 1, ptr @g
  ret void
}
define void @f() memory(none) {
  call void @inner()
  ret void
}
define i32 @main() {
  call void @f()
  ret i32 0
}
