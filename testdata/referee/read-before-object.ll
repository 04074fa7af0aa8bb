; undefined: a read of 4 bytes at offset -4 of %a, which has 16 bytes
define i32 @main() {
  %a = alloca [4 x i32], align 4
  %p = getelementptr i32, ptr %a, i64 -1
  %v = load i32, ptr %p, align 4
  ret i32 %v
}
