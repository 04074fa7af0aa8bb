; defined: 1
@g = global i32 1
define i32 @main() {
  %a = load i32, ptr @g, !invariant.load !0
  store i32 1, ptr @g
  %b = load i32, ptr @g, !invariant.load !0
  ret i32 %b
}
!0 = !{}
