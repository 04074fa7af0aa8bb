; undefined: the exit status is poison
; from: signed overflow
define i32 @main() {
  %p = add nsw i32 2147483647, 1
  br label %next
next:
  %v = phi i32 [ %p, %0 ]
  ret i32 %v
}
