; undefined: after its function returned
declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
define i32 @main() {
  %s = call ptr @llvm.stacksave.p0()
  %x = alloca i32
  store i32 1, ptr %x
  call void @llvm.stackrestore.p0(ptr %s)
  %v = load i32, ptr %x
  ret i32 %v
}
