; undefined: signed division overflows
define i8 @rest(i8 %a, i8 %b) {
  %q = srem i8 %a, %b
  ret i8 %q
}
define i32 @main() {
  %r = call i8 @rest(i8 -128, i8 -1)
  ret i32 0
}
