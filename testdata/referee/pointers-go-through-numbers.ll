; defined: 9
define i32 @main() {
  %x = alloca [2 x i32]
  %l = getelementptr i32, ptr %x, i64 1
  store i32 9, ptr %l
  %n = ptrtoint ptr %x to i64
  %m = add i64 %n, 4
  %p = inttoptr i64 %m to ptr
  %v = load i32, ptr %p
  ret i32 %v
}
