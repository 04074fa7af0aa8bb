; undefined: a read of 4 bytes at offset 16 of @a, which has 16 bytes
@a = global [4 x i32] zeroinitializer, align 4
define i32 @main() {
  %p = getelementptr i32, ptr @a, i64 4
  %v = load i32, ptr %p, align 4
  ret i32 %v
}
