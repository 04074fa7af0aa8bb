; defined: 7
@a = global [4 x i32] [i32 1, i32 2, i32 3, i32 7], align 4
define i32 @main() {
  %p = getelementptr inbounds i32, ptr @a, i64 3
  %v = load i32, ptr %p, align 4
  ret i32 %v
}
