; undefined: a branch depends on poison
; from: unsigned overflow: -1 + 1
define i32 @main() {
  %p = add nuw i32 -1, 1
  %c = icmp eq i32 %p, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
