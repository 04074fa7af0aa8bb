; defined: 0
declare void @llvm.assume(i1)
define i32 @main() {
  %p = alloca i64, align 8
  %q = getelementptr i8, ptr %p, i64 4
  call void @llvm.assume(i1 true) [ "align"(ptr %p, i64 8) ]
  call void @llvm.assume(i1 true) [ "align"(ptr %q, i64 8, i64 4) ]
  ret i32 0
}
