; defined: 0
declare i32 @getpid()
define i32 @f() {
  %r = call i32 @getpid()
  ret i32 %r
}
define i32 @main() {
  ret i32 0
}
