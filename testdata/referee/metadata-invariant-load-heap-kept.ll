; defined: 2
declare ptr @malloc(i64)
define i32 @main() {
  %p = call ptr @malloc(i64 4)
  store i32 2, ptr %p
  %a = load i32, ptr %p, !invariant.load !0
  ret i32 %a
}
!0 = !{}
