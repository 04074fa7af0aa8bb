; undefined: a write to @g in f
@g = global i32 0
@c = constant i32 4
define void @f() {
  store i32 1, ptr @g
  ret void
}
define i32 @main() {
  call void @f() memory(none)
  ret i32 0
}
