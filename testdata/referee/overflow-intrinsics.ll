; defined: 1
declare { i8, i1 } @llvm.smul.with.overflow.i8(i8, i8)
define i32 @main() {
  %x = call { i8, i1 } @llvm.smul.with.overflow.i8(i8 64, i8 2)
  %o = extractvalue { i8, i1 } %x, 1
  %r = zext i1 %o to i32
  ret i32 %r
}
