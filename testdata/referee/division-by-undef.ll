; undefined: division by undef
define i32 @main() {
  %q = udiv i32 6, undef
  ret i32 %q
}
