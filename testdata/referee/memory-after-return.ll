; defined: 0
@g = global i32 0
@c = constant i32 4
define void @f() memory(none) {
  ret void
}
define i32 @main() {
  call void @f()
  store i32 1, ptr @g
  ret i32 0
}
