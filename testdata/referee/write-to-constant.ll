; undefined: a write to the constant @c
@c = constant i32 3
define i32 @main() {
  store i32 4, ptr @c
  ret i32 0
}
