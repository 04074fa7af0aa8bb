; undefined: a read of 4 bytes that should be aligned to 4 bytes
@g = global [8 x i8] zeroinitializer, align 1
define i32 @main() {
  %q = getelementptr i8, ptr @g, i64 1
  %v = load i32, ptr %q, align 4
  ret i32 %v
}
