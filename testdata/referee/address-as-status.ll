; no verdict: the exit status is an unspecified value
define i32 @main() {
  %x = alloca i32
  %m = ptrtoint ptr %x to i64
  %r = trunc i64 %m to i32
  ret i32 %r
}
