; no verdict: control flow depends on an unspecified value
define i32 @main() {
  %u = freeze i1 poison
  br i1 %u, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
