; defined: 0
declare void @llvm.assume(i1)
define i32 @main() {
  %p = alloca i64, align 8
  call void @llvm.assume(i1 true) [ "nonnull"(ptr %p) ]
  ret i32 0
}
