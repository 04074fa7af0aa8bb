; no verdict: the output depends on an unspecified value
@format = constant [4 x i8] c"%d\0A\00"
declare i32 @printf(ptr, ...)
define i32 @main() {
  %u = freeze i32 poison
  call i32 (ptr, ...) @printf(ptr @format, i32 %u)
  ret i32 0
}
