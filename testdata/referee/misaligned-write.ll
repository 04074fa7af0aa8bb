; undefined: that should be aligned to 2 bytes is not
define i32 @main() {
  %a = alloca [4 x i8], align 4
  %p = getelementptr i8, ptr %a, i64 1
  store i16 0, ptr %p, align 2
  ret i32 0
}
