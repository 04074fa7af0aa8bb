; defined: 13
declare void @llvm.masked.store.v2i32.p0(<2 x i32>, ptr, i32, <2 x i1>)
define i32 @main() {
  %a = alloca [2 x i32], align 4
  store i64 4294967301, ptr %a, align 4
  call void @llvm.masked.store.v2i32.p0(<2 x i32> <i32 7, i32 8>, ptr %a, i32 4, <2 x i1> <i1 0, i1 1>)
  %b = getelementptr i32, ptr %a, i64 1
  %x = load i32, ptr %a
  %y = load i32, ptr %b
  %s = add i32 %x, %y
  ret i32 %s
}
