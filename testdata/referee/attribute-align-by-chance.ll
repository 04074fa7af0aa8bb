; undefined: argument 1 of f is poison, against noundef
; from: against align 4
@g = global [8 x i8] zeroinitializer, align 1
define i32 @f(ptr noundef align 4 %x) {
  ret i32 0
}
define i32 @main() {
  %a = getelementptr i8, ptr @g, i64 1
  %b = getelementptr i8, ptr @g, i64 3
  %r = call i32 @f(ptr %a)
  %s = call i32 @f(ptr %b)
  ret i32 %r
}
