; undefined: the result of f is poison
; from: against align 8
@a = global i32 0, align 4
define noundef align 8 ptr @f() {
  ret ptr @a
}
define i32 @main() {
  %r = call ptr @f()
  ret i32 0
}
