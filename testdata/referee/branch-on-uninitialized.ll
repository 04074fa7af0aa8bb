; undefined: a branch depends on undef
; from: bytes of %x that were never written are read
define i32 @main() {
  %x = alloca i32
  %v = load i32, ptr %x
  %c = icmp eq i32 %v, 3
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}
