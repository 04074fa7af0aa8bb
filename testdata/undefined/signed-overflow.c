// x + 1 is more than x for every int but the largest, where the sum overflows.
#include <stdio.h>
int check(int x) { return x + 1 > x; }
int main(void) {
  volatile int largest = 2147483647;
  printf("%d\n", check(largest));
}
