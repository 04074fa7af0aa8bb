; undefined: a branch depends on poison
; from: trunc nuw drops bits that matter
define i32 @main() {
  %p = trunc nuw i32 256 to i8
  %c = icmp eq i8 %p, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
