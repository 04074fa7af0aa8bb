; undefined: a read of 4 bytes through a null pointer
define i32 @f(ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}
define i32 @main() {
  %v = call i32 @f(ptr null)
  ret i32 %v
}
