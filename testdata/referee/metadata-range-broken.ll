; undefined: the loaded value is poison, against noundef
; from: against its range
define i32 @main() {
  %p = alloca i32, align 8
  store i32 7, ptr %p, align 8
  %v = load i32, ptr %p, align 8, !range !1, !noundef !0
  ret i32 0
}
!0 = !{}
!1 = !{i32 1, i32 5, i32 20, i32 30}
