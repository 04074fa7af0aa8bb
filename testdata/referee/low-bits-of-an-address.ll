; defined: 3
define i32 @main() {
  %x = alloca [8 x i8], align 8
  %l = getelementptr i8, ptr %x, i64 3
  %m = ptrtoint ptr %l to i64
  %d = and i64 %m, 7
  %r = trunc i64 %d to i32
  ret i32 %r
}
