; defined: 2
@g = global i32 1
define i32 @main() {
  store i32 2, ptr @g
  %a = load i32, ptr @g, !invariant.load !0
  store i32 2, ptr @g
  %b = load i32, ptr @g
  ret i32 %b
}
!0 = !{}
