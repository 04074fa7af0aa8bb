; undefined: division by zero: 7 / 0
define i32 @divide(i32 %a, i32 %b) {
  %q = sdiv i32 %a, %b
  ret i32 %q
}
define i32 @main() {
  %r = call i32 @divide(i32 7, i32 0)
  ret i32 %r
}
