// An int is written as a float: at -O2 the int is taken to be what it was.
#include <stdio.h>
int set(int *i, float *f) {
  *i = 1;
  *f = 2.0f;
  return *i;
}
int main(void) {
  int x = 0;
  printf("%d\n", set(&x, (float *)&x));
}
