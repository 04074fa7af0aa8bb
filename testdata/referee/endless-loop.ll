; no verdict: steps is reached
define i32 @main() {
  br label %a
a:
  br label %a
}
