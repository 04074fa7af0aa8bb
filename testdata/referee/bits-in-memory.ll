; defined: 5
define i32 @main() {
  %p = alloca <8 x i1>
  store <8 x i1> <i1 1, i1 0, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0>, ptr %p
  %b = load i8, ptr %p
  %r = zext i8 %b to i32
  ret i32 %r
}
