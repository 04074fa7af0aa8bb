; undefined: division by poison
; from: the shift is not less than the width: 1 << 40
define i32 @main() {
  %p = shl i32 1, 40
  %q = udiv i32 6, %p
  ret i32 %q
}
