; undefined: argument 1 of f is poison, against noundef
; from: against nofpclass
define i32 @f(double noundef nofpclass(inf) %x) {
  ret i32 0
}
define i32 @main() {
  %r = call i32 @f(double 0x7FF0000000000000)
  ret i32 %r
}
