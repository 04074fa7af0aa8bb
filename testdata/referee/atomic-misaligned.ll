; undefined: that should be aligned to 4 bytes
define i32 @main() {
  %a = alloca [8 x i8], align 4
  %p = getelementptr i8, ptr %a, i64 2
  %v = atomicrmw add ptr %p, i32 1 seq_cst, align 4
  ret i32 0
}
