; undefined: a branch depends on poison
; from: llvm.abs of the least number
declare i8 @llvm.abs.i8(i8, i1)
define i32 @main() {
  %p = call i8 @llvm.abs.i8(i8 -128, i1 true)
  %c = icmp eq i8 %p, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
