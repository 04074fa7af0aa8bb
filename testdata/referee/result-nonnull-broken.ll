; undefined: the result of f is poison, against noundef
; from: against nonnull
define noundef nonnull ptr @f() {
  ret ptr null
}
define i32 @main() {
  %r = call ptr @f()
  ret i32 0
}
