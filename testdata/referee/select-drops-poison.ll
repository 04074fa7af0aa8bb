; defined: 5
define i32 @main() {
  %p = shl i32 1, 99
  %v = select i1 false, i32 %p, i32 5
  ret i32 %v
}
