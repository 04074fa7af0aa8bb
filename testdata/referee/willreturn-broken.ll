; undefined: the program ends in f, which is willreturn
declare void @exit(i32)
define void @f() willreturn {
  call void @exit(i32 4)
  unreachable
}
define i32 @main() {
  call void @f()
  ret i32 0
}
