#include <stdio.h>

static _Thread_local int counter = 41;

int main(void) {
  printf("counter %d\n", ++counter);
  return 0;
}
