// Reads an int from an odd address. Whoever reads an int may be taken to know that
// its address is even: LLVM's attributor does.
#include <stdio.h>
int is_odd(const int *p) {
  int read = *p;
  return read == 0 && ((unsigned long)p & 1) != 0;
}
int main(void) {
  static _Alignas(16) char bytes[16];
  volatile int one = 1;
  printf("%d\n", is_odd((const int *)(bytes + one)));
}
