; undefined: a branch depends on poison
; from: the number does not fit into the integer
define i32 @main() {
  %p = fptosi double 1.0e10 to i32
  %c = icmp eq i32 %p, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
