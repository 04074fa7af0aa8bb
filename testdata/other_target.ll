target triple = "aarch64-unknown-linux-gnu"

define i32 @f(i32 %x) {
  %a = add i32 %x, 0
  ret i32 %a
}
