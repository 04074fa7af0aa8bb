; defined: 9
define i32 @main() {
entry:
  %x = alloca i32
  %p = alloca ptr
  %q = alloca ptr
  store i32 9, ptr %x
  store ptr %x, ptr %p
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %n, %loop ]
  %f = getelementptr i8, ptr %p, i64 %i
  %t = getelementptr i8, ptr %q, i64 %i
  %b = load i8, ptr %f
  store i8 %b, ptr %t
  %n = add i64 %i, 1
  %c = icmp ult i64 %n, 8
  br i1 %c, label %loop, label %end
end:
  %y = load ptr, ptr %q
  %v = load i32, ptr %y
  ret i32 %v
}
