; undefined: a read of 4 bytes through a poison pointer
; from: getelementptr inbounds leaves @a: offset 20 of 16 bytes
@a = global [4 x i32] zeroinitializer, align 4
define i32 @main() {
  %p = getelementptr inbounds i32, ptr @a, i64 5
  %q = getelementptr i32, ptr %p, i64 -2
  %v = load i32, ptr %q, align 4
  ret i32 %v
}
