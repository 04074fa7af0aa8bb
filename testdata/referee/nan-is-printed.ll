; no verdict: the output depends on an unspecified value
@f = constant [4 x i8] c"%f\0A\00"
declare i32 @printf(ptr, ...)
define i32 @main() {
  %n = fdiv double 0.0, 0.0
  call i32 (ptr, ...) @printf(ptr @f, double %n)
  ret i32 0
}
