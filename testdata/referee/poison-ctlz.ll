; undefined: a branch depends on poison
; from: a count of zeros of zero
declare i32 @llvm.ctlz.i32(i32, i1)
define i32 @main() {
  %p = call i32 @llvm.ctlz.i32(i32 0, i1 true)
  %c = icmp eq i32 %p, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
