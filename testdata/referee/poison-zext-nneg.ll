; undefined: a branch depends on poison
; from: zext nneg of a negative number: -1
define i32 @main() {
  %p = zext nneg i8 -1 to i32
  %c = icmp eq i32 %p, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
