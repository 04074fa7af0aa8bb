; undefined: output in a function that promised
@format = constant [4 x i8] c"%d\0A\00"
declare i32 @printf(ptr, ...)
define void @f() memory(none) {
  call i32 (ptr, ...) @printf(ptr @format, i32 1)
  ret void
}
define i32 @main() {
  call void @f()
  ret i32 0
}
