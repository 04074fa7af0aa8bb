; undefined: argument 1 of f is poison, against noundef
; from: against its range
define i32 @f(i32 noundef range(i32 0, 10) %x) {
  ret i32 0
}
define i32 @main() {
  %r = call i32 @f(i32 10)
  ret i32 %r
}
