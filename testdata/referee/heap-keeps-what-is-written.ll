; defined: 5
declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)
define i32 @main() {
  %p = call ptr @malloc(i64 4)
  store i32 5, ptr %p
  %q = call ptr @realloc(ptr %p, i64 100)
  %v = load i32, ptr %q
  call void @free(ptr %q)
  ret i32 %v
}
