; undefined: the exit status is poison
; from: signed overflow: 127 + 1
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define i32 @main() {
  %a = alloca i16
  %b = alloca i16
  %v = add nsw i8 127, 1
  store i16 0, ptr %a
  store i8 %v, ptr %a
  call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr %a, i64 2, i1 false)
  %e = load i16, ptr %b
  %r = zext i16 %e to i32
  ret i32 %r
}
