; defined: 0
@a = global i32 0
define dereferenceable(4) ptr @f() {
  ret ptr @a
}
define i32 @main() {
  %r = call ptr @f()
  ret i32 0
}
