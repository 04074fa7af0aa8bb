; defined: 0
@g = global i32 0
@c = constant i32 4
define void @f(ptr noalias %p, ptr %q) {
  store i32 1, ptr %p
  %n = ptrtoint ptr %p to i64
  %m = add i64 %n, 0
  %r = inttoptr i64 %m to ptr
  %v = load i32, ptr %r
  ret void
}
define i32 @main() {
  %x = alloca i32
  store i32 0, ptr %x
  call void @f(ptr %x, ptr %x)
  store i32 1, ptr %x
  ret i32 0
}
