; defined: 21
define i32 @main() {
entry:
  br label %loop
loop:
  %a = phi i32 [ 1, %entry ], [ %b, %loop ]
  %b = phi i32 [ 2, %entry ], [ %a, %loop ]
  %i = phi i32 [ 0, %entry ], [ %n, %loop ]
  %n = add i32 %i, 1
  %c = icmp ult i32 %n, 2
  br i1 %c, label %loop, label %end
end:
  %t = mul i32 %a, 10
  %r = add i32 %t, %b
  ret i32 %r
}
