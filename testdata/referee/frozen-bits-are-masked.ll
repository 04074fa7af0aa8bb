; defined: 4
define i32 @main() {
  %u = freeze i32 undef
  %v = and i32 %u, 3
  %w = or i32 %v, 4
  %x = lshr i32 %w, 2
  %y = shl i32 %x, 2
  ret i32 %y
}
