#include <stdint.h>
int main(void) {
  volatile char *at = (char *)(uintptr_t)0x7fffffffe000;
  for (;;)
    *--at = 1;
}
