; undefined: has undef bits, against noundef
define i32 @f(i32 noundef %x) {
  ret i32 0
}
define i32 @main() {
  %a = alloca i32
  store i16 0, ptr %a
  %v = load i32, ptr %a
  %r = call i32 @f(i32 %v)
  ret i32 %r
}
