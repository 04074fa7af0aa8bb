; undefined: of %x after its function returned
define ptr @f() {
  %x = alloca i32
  store i32 1, ptr %x
  ret ptr %x
}
define i32 @main() {
  %p = call ptr @f()
  %v = load i32, ptr %p
  ret i32 %v
}
