; undefined: argument 1 of f is poison, against noundef
; from: against nonnull
@a = global i32 0
define i32 @f(ptr noundef nonnull %x) {
  ret i32 0
}
define i32 @main() {
  %r = call i32 @f(ptr null)
  ret i32 %r
}
