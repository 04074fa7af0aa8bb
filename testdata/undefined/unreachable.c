// Reaches what it says cannot be reached.
#include <stdio.h>
int is_large(int x) {
  if (x > 10)
    __builtin_unreachable();
  return x > 10;
}
int main(void) {
  volatile int x = 11;
  printf("%d\n", is_large(x));
}
