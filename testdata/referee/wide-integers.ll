; defined: 5
define i32 @main() {
  %a = shl i200 5, 150
  %p = alloca i200
  store i200 %a, ptr %p
  %b = load i200, ptr %p
  %c = udiv i200 %b, 1427247692705959881058285969449495136382746624
  %r = trunc i200 %c to i32
  ret i32 %r
}
