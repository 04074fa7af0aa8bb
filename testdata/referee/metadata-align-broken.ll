; undefined: the loaded value is poison, against noundef
; from: against align 8
@a = global i32 0, align 8
@b = global i32 0, align 4
define i32 @main() {
  %p = alloca ptr, align 8
  store ptr @b, ptr %p, align 8
  %v = load ptr, ptr %p, align 8, !align !1, !noundef !0
  ret i32 0
}
!0 = !{}
!1 = !{i64 8}
