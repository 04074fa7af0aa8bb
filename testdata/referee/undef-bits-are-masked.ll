; defined: 4
define i32 @main() {
  %a = alloca i32
  %u = load i32, ptr %a
  %v = and i32 %u, -8
  %w = or i32 %v, 4
  %x = and i32 %w, 7
  ret i32 %x
}
