; depends on layout: 0
define i32 @main() {
  %x = alloca i32
  %y = alloca i32
  %e = getelementptr i32, ptr %x, i64 1
  %c = icmp eq ptr %e, %y
  br i1 %c, label %a, label %b
a:
  ret i32 0
b:
  ret i32 0
}
