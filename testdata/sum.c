#include <stdio.h>

static int square(int n) { return n * n; }

int main(void) {
  int total = 0;
  for (int i = 0; i < 100; i++) {
    if (i % 3 == 0)
      total += square(i);
    else
      total -= i;
  }
  printf("%d\n", total);
  return 0;
}
