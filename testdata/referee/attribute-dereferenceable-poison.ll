; undefined: argument 1 of f is poison, against dereferenceable(8)
; from: against nonnull
define i32 @f(ptr nonnull dereferenceable(8) %x) {
  ret i32 0
}
define i32 @main() {
  %r = call i32 @f(ptr null)
  ret i32 %r
}
