; undefined: that should be aligned to 8 bytes is not: offset 0 of @a, which is aligned to 4 bytes
@a = global [8 x i8] zeroinitializer, align 4
define i32 @main() {
  %v = load i64, ptr @a, align 8
  ret i32 0
}
