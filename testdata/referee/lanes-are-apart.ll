; defined: 3
define i32 @main() {
  %v = add nsw <2 x i8> <i8 127, i8 1>, <i8 1, i8 2>
  %e = extractelement <2 x i8> %v, i32 1
  %r = zext i8 %e to i32
  ret i32 %r
}
