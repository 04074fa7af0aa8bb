; defined: 3
define i32 @main() {
  %a = alloca [8 x i8], align 1
  %p = getelementptr i8, ptr %a, i64 1
  store i32 3, ptr %p, align 1
  %v = load i32, ptr %p, align 1
  ret i32 %v
}
