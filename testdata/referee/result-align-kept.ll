; defined: 0
@a = global i32 0, align 8
define noundef align 8 ptr @f() {
  ret ptr @a
}
define i32 @main() {
  %r = call ptr @f()
  ret i32 0
}
