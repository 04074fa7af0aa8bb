; undefined: a branch depends on poison
; from: unsigned overflow
define i32 @main() {
  %p = mul nuw i128 18446744073709551616, 18446744073709551616
  %c = icmp eq i128 %p, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
