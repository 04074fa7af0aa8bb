; defined: 4
declare void @exit(i32)
define void @f() {
  call void @exit(i32 4)
  unreachable
}
define i32 @main() {
  call void @f() noreturn
  unreachable
}
