; undefined: a branch depends on poison
; from: no such element of the vector
define i32 @main() {
  %p = extractelement <4 x i32> zeroinitializer, i32 4
  %c = icmp eq i32 %p, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
