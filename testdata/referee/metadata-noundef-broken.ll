; undefined: the loaded value has undef bits, against noundef
define i32 @main() {
  %p = alloca i32, align 8
  store i32 undef, ptr %p, align 8
  %v = load i32, ptr %p, align 8, !noundef !0
  ret i32 0
}
!0 = !{}
