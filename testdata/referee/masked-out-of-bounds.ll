; undefined: a read of 4 bytes at offset 8 of @a
@a = global [2 x i32] zeroinitializer, align 4
declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, i32, <4 x i1>, <4 x i32>)
define i32 @main() {
  %v = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr @a, i32 4, <4 x i1> <i1 1, i1 1, i1 1, i1 0>, <4 x i32> zeroinitializer)
  ret i32 0
}
