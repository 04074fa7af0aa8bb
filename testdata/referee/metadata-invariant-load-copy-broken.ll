; undefined: which was read by a load with !invariant.load
@g = global [2 x i32] [i32 1, i32 2]
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define i32 @main() {
  %a = load i32, ptr @g, !invariant.load !0
  call void @llvm.memset.p0.i64(ptr @g, i8 1, i64 8, i1 false)
  ret i32 0
}
!0 = !{}
