#include <stdio.h>

static int ready;
__attribute__((constructor)) static void prepare(void) { ready = 1; }

int main(void) {
  printf("ready %d\n", ready);
  return 0;
}
