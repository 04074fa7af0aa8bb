; defined: 1
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
define i32 @main() {
  %a = alloca [8 x i8]
  store i8 1, ptr %a
  %b = getelementptr i8, ptr %a, i64 2
  call void @llvm.memmove.p0.p0.i64(ptr %b, ptr %a, i64 4, i1 false)
  %v = load i8, ptr %b
  %r = zext i8 %v to i32
  ret i32 %r
}
