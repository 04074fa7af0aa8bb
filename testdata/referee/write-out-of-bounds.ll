; undefined: a write of 8 bytes at offset 0 of %a, which has 4 bytes
define i32 @main() {
  %a = alloca i32, align 8
  store i64 0, ptr %a, align 8
  ret i32 0
}
