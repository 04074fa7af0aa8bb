; defined: 12
define i32 @main() {
  %x = alloca [8 x i32]
  %l = getelementptr i32, ptr %x, i64 3
  %n = ptrtoint ptr %x to i64
  %m = ptrtoint ptr %l to i64
  %d = sub i64 %m, %n
  %r = trunc i64 %d to i32
  ret i32 %r
}
