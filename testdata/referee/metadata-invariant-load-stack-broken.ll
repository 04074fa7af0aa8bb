; undefined: of %p, which was changed before
define i32 @main() {
  %p = alloca i32
  store i32 2, ptr %p
  %a = load i32, ptr %p, !invariant.load !0
  ret i32 0
}
!0 = !{}
