; defined: 9
@a = global [2 x i32] [i32 4, i32 5], align 4
declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, i32, <4 x i1>, <4 x i32>)
declare i32 @llvm.vector.reduce.add.v4i32(<4 x i32>)
define i32 @main() {
  %v = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr @a, i32 4, <4 x i1> <i1 1, i1 1, i1 0, i1 0>, <4 x i32> zeroinitializer)
  %s = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %v)
  ret i32 %s
}
