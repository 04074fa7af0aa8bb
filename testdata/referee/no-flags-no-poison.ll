; defined: 0
define i32 @main() {
  %x = add i8 127, 1
  %y = add i8 %x, -128
  %z = zext i8 %y to i32
  ret i32 %z
}
