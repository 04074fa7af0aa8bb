; undefined: against dereferenceable(8)
declare void @llvm.assume(i1)
define i32 @main() {
  %p = alloca i32, align 8
  call void @llvm.assume(i1 true) [ "dereferenceable"(ptr %p, i64 8) ]
  ret i32 0
}
