; defined: 0
@a = global i32 0, align 8
@b = global i32 0, align 4
define i32 @f(ptr noundef align 8 %x) {
  ret i32 0
}
define i32 @main() {
  %r = call i32 @f(ptr @a)
  ret i32 %r
}
