; undefined: a branch depends on poison
; from: the shift is not less than the width
declare i8 @llvm.ushl.sat.i8(i8, i8)
define i32 @main() {
  %p = call i8 @llvm.ushl.sat.i8(i8 1, i8 8)
  %c = icmp eq i8 %p, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
