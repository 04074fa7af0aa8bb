; undefined: which was read by a load with !invariant.load
@g = global i32 1
define i32 @main() {
  %a = load i32, ptr @g, !invariant.load !0
  %b = add i32 %a, 1
  store i32 %b, ptr @g
  ret i32 0
}
!0 = !{}
