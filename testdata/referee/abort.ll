; signal: 6
declare void @abort()
define i32 @main() {
  call void @abort()
  unreachable
}
