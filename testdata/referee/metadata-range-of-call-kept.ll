; defined: 1
define i8 @f() {
  ret i8 4
}
define i32 @main() {
  %v = call i8 @f(), !range !0
  %c = icmp eq i8 %v, 4
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
!0 = !{i8 0, i8 5}
