; defined: 6
define i32 @main() {
  %a = sitofp i32 3 to x86_fp80
  %b = fadd x86_fp80 %a, %a
  %p = alloca x86_fp80
  store x86_fp80 %b, ptr %p
  %c = load x86_fp80, ptr %p
  %r = fptosi x86_fp80 %c to i32
  ret i32 %r
}
