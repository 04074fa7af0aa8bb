; defined: 4
declare void @exit(i32)
define void @f() noreturn {
  call void @exit(i32 4)
  unreachable
}
define i32 @main() {
  call void @f()
  ret i32 0
}
