; undefined: against dereferenceable(8)
@a = global i64 0
@b = global i32 0
define i32 @f(ptr dereferenceable(8) %x) {
  ret i32 0
}
define i32 @main() {
  %r = call i32 @f(ptr @b)
  ret i32 %r
}
