; defined: 0
@a = global i32 0
define i32 @main() {
  %p = alloca ptr, align 8
  store ptr @a, ptr %p, align 8
  %v = load ptr, ptr %p, align 8, !nonnull !0, !noundef !0
  ret i32 0
}
!0 = !{}
