; undefined: llvm.assume is told something false
declare void @llvm.assume(i1)
define void @f(i1 %c) {
  call void @llvm.assume(i1 %c)
  ret void
}
define i32 @main() {
  call void @f(i1 false)
  ret i32 0
}
