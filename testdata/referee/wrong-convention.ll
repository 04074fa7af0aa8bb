; undefined: with another calling convention
define fastcc i32 @f(i32 %x) {
  ret i32 %x
}
define i32 @main() {
  %v = call i32 @f(i32 3)
  ret i32 %v
}
