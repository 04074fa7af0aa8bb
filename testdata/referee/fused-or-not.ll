; no verdict: the exit status is an unspecified value
declare double @llvm.fmuladd.f64(double, double, double)
define i32 @main() {
  %v = call double @llvm.fmuladd.f64(double 0x3FF0000000000001, double 0x3FF0000000000001, double 0xBFF0000000000002)
  %b = bitcast double %v to i64
  %h = lshr i64 %b, 52
  %r = trunc i64 %h to i32
  ret i32 %r
}
