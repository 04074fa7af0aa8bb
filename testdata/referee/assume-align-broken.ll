; undefined: what llvm.assume is told is poison, against noundef
; from: against align 8
declare void @llvm.assume(i1)
define i32 @main() {
  %p = alloca i64, align 8
  %q = getelementptr i8, ptr %p, i64 4
  call void @llvm.assume(i1 true) [ "align"(ptr %q, i64 8) ]
  ret i32 0
}
