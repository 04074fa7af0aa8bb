; undefined: that should be aligned to 4 bytes is not: offset 1 of @a
@a = global [8 x i8] zeroinitializer, align 4
define i32 @main() {
  %p = getelementptr i8, ptr @a, i64 1
  %v = load i32, ptr %p, align 4
  ret i32 %v
}
