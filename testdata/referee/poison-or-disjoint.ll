; undefined: a branch depends on poison
; from: the operands of a disjoint or share bits
define i32 @main() {
  %p = or disjoint i8 3, 1
  %c = icmp eq i8 %p, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
