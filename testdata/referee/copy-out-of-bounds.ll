; undefined: a read of 9 bytes at offset 0 of %a
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define i32 @main() {
  %a = alloca [8 x i8]
  %b = alloca [16 x i8]
  call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr %a, i64 9, i1 false)
  ret i32 0
}
