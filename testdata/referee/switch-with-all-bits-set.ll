; defined: 2
define i32 @main() {
  %x = sub i64 0, 1
  switch i64 %x, label %a [ i64 -1, label %b
    i64 -2, label %a ]
a:
  ret i32 1
b:
  ret i32 2
}
