; undefined: free of %p, which is not on the heap
declare void @free(ptr)
define i32 @main() {
  %p = alloca i32
  call void @free(ptr %p)
  ret i32 0
}
