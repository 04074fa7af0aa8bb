; undefined: a write of 4 bytes through a poison pointer
define i32 @main() {
  store i32 1, ptr poison
  ret i32 0
}
