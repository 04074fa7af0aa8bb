; undefined: what llvm.assume is told is poison
declare void @llvm.assume(i1)
define i32 @main() {
  %x = shl i8 1, 8
  %c = icmp eq i8 %x, 0
  call void @llvm.assume(i1 %c)
  ret i32 0
}
