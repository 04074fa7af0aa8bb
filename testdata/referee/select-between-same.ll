; no verdict: control flow
define i32 @main() {
  %u = freeze i1 poison
  %v = select i1 %u, i32 5, i32 6
  %w = icmp eq i32 %v, 5
  br i1 %w, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
