; defined: 0
define i32 @main() {
  %p = shl i32 1, 40
  %q = udiv i32 %p, 2
  ret i32 0
}
