; no verdict: which is defined elsewhere
@environ = external global ptr
define i32 @main() {
  %r = load ptr, ptr @environ
  ret i32 0
}
