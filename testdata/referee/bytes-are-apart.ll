; defined: 3
define i32 @main() {
  %a = alloca <2 x i8>
  %v = add nsw <2 x i8> <i8 127, i8 1>, <i8 1, i8 2>
  store <2 x i8> %v, ptr %a
  %b = getelementptr i8, ptr %a, i64 1
  %e = load i8, ptr %b
  %r = zext i8 %e to i32
  ret i32 %r
}
