target triple = "x86_64-pc-linux-gnu"

define i32 @main() {
  call void asm sideeffect "no_such_instruction_at_all", ""()
  ret i32 0
}
