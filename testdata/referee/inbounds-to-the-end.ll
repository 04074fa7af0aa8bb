; defined: 3
@a = global [4 x i32] [i32 1, i32 2, i32 3, i32 4], align 4
define i32 @main() {
  %p = getelementptr inbounds i32, ptr @a, i64 4
  %q = getelementptr inbounds i32, ptr %p, i64 -2
  %v = load i32, ptr %q, align 4
  ret i32 %v
}
