; undefined: against dereferenceable(8)
@b = global i32 0
define i32 @f(ptr dereferenceable_or_null(8) %x) {
  ret i32 0
}
define i32 @main() {
  %r = call i32 @f(ptr @b)
  ret i32 %r
}
