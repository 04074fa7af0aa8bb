; defined: 1
define i32 @main() {
  %x = alloca i32
  %y = alloca i32
  %c = icmp ne ptr %x, %y
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 0
}
