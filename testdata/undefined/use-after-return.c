// The address of a local variable outlives the call.
#include <stdio.h>
int *keep;
void __attribute__((noinline)) call(int value) {
  int local = value;
  keep = &local;
}
int main(void) {
  call(42);
  printf("%d\n", *keep == 42);
}
