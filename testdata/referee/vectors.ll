; defined: 66
declare i32 @llvm.vector.reduce.add.v4i32(<4 x i32>)
declare <4 x i32> @llvm.smax.v4i32(<4 x i32>, <4 x i32>)
define i32 @main() {
  %a = shufflevector <4 x i32> <i32 1, i32 2, i32 3, i32 4>, <4 x i32> <i32 10, i32 20, i32 30, i32 40>, <4 x i32> <i32 0, i32 5, i32 2, i32 7>
  %b = call <4 x i32> @llvm.smax.v4i32(<4 x i32> %a, <4 x i32> <i32 2, i32 2, i32 4, i32 2>)
  %s = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %b)
  ret i32 %s
}
