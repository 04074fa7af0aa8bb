; defined: 0
@a = global i64 0
@b = global i32 0
define i32 @main() {
  %p = alloca ptr, align 8
  store ptr @a, ptr %p, align 8
  %v = load ptr, ptr %p, align 8, !dereferenceable !1
  ret i32 0
}
!0 = !{}
!1 = !{i64 8}
