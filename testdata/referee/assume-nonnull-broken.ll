; undefined: what llvm.assume is told is poison, against noundef
; from: against nonnull
declare void @llvm.assume(i1)
define i32 @main() {
  call void @llvm.assume(i1 true) [ "nonnull"(ptr null) ]
  ret i32 0
}
