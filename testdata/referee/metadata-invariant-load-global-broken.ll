; undefined: of @g, which was changed before
@g = global i32 1
define i32 @main() {
  store i32 2, ptr @g
  %a = load i32, ptr @g, !invariant.load !0
  ret i32 0
}
!0 = !{}
