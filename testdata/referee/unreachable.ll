; undefined: an unreachable instruction is reached
define i32 @main() {
  unreachable
}
