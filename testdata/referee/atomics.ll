; defined: 12
define i32 @main() {
  %p = alloca i32
  store i32 5, ptr %p
  %o = atomicrmw add ptr %p, i32 2 seq_cst
  %x = cmpxchg ptr %p, i32 7, i32 9 seq_cst seq_cst
  %s = extractvalue { i32, i1 } %x, 1
  %z = zext i1 %s to i32
  %m = atomicrmw umax ptr %p, i32 1 seq_cst
  %v = load i32, ptr %p
  %a = add i32 %v, %z
  %b = add i32 %a, 2
  ret i32 %b
}
