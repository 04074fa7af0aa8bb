; undefined: a format asks for more arguments
@format = constant [4 x i8] c"%d\0A\00"
declare i32 @printf(ptr, ...)
define i32 @main() {
  call i32 (ptr, ...) @printf(ptr @format)
  ret i32 0
}
