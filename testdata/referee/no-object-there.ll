; undefined: at an address where no object is
define i32 @main() {
  %p = inttoptr i64 5000 to ptr
  %v = load i32, ptr %p
  ret i32 %v
}
