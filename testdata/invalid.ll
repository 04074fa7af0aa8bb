; The first use of %a comes before its definition.
define i32 @f(i32 %x) {
entry:
  %b = add i32 %a, 1
  %a = add i32 %x, 1
  ret i32 %b
}
