; defined: 4
@a = global [4 x i32] [i32 1, i32 2, i32 3, i32 4], align 4
define i32 @main() {
  %p = getelementptr i32, ptr @a, i64 40
  %q = getelementptr i32, ptr %p, i64 -37
  %v = load i32, ptr %q, align 4
  ret i32 %v
}
