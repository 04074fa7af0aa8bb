; undefined: a branch depends on poison
; from: getelementptr inbounds from null
define i32 @main() {
  %g = getelementptr inbounds i8, ptr null, i64 4
  %c0 = icmp eq ptr %g, null
  %p = zext i1 %c0 to i8
  %c = icmp eq i8 %p, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
