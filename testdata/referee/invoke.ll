; no verdict: an invoke
declare i32 @__gxx_personality_v0(...)
define void @f() {
  ret void
}
define i32 @main() personality ptr @__gxx_personality_v0 {
  invoke void @f() to label %a unwind label %b
a:
  ret i32 0
b:
  %l = landingpad { ptr, i32 } cleanup
  ret i32 1
}
