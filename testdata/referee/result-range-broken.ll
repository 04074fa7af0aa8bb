; undefined: the result of f is poison
; from: against its range
define noundef range(i32 0, 10) i32 @f() {
  ret i32 -1
}
define i32 @main() {
  %r = call i32 @f()
  ret i32 0
}
