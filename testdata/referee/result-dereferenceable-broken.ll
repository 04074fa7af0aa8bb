; undefined: against dereferenceable(4)
define dereferenceable(4) ptr @f() {
  ret ptr null
}
define i32 @main() {
  %r = call ptr @f()
  ret i32 0
}
