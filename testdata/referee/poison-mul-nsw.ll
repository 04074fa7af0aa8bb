; undefined: a branch depends on poison
; from: signed overflow: 64 * 2
define i32 @main() {
  %p = mul nsw i8 64, 2
  %c = icmp eq i8 %p, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
