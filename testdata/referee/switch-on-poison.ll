; undefined: a branch depends on poison
define i32 @main() {
  %x = lshr exact i8 3, 1
  switch i8 %x, label %a [ i8 1, label %b ]
a:
  ret i32 1
b:
  ret i32 2
}
