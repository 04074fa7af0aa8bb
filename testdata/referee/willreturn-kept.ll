; defined: 3
define void @f() willreturn {
  ret void
}
define i32 @main() {
  call void @f()
  ret i32 3
}
