; defined: 0
declare void @llvm.assume(i1)
define i32 @main() {
  call void @llvm.assume(i1 true)
  ret i32 0
}
