; undefined: the noreturn function f returns
define void @f() {
  ret void
}
define i32 @main() {
  call void @f() noreturn
  ret i32 0
}
