; depends on layout: 7
@g = global [12 x i8] c"\07\07\07\07\07\07\07\07\07\07\07\07", align 1
define i32 @main() {
  br label %loop
loop:
  %p = phi ptr [ @g, %0 ], [ %next, %loop ]
  %n = ptrtoint ptr %p to i64
  %low = and i64 %n, 3
  %aligned = icmp eq i64 %low, 0
  %next = getelementptr i8, ptr %p, i64 1
  br i1 %aligned, label %read, label %loop
read:
  %v = load i32, ptr %p, align 4
  %r = and i32 %v, 255
  ret i32 %r
}
