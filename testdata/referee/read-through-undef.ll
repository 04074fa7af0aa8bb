; undefined: a read of 4 bytes through an undef pointer
define i32 @main() {
  %v = load i32, ptr undef
  ret i32 %v
}
