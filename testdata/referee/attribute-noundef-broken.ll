; undefined: argument 1 of f is poison, against noundef
define i32 @f(i32 noundef %x) {
  ret i32 0
}
define i32 @main() {
  %r = call i32 @f(i32 poison)
  ret i32 %r
}
