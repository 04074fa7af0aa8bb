// Nobody wrote what is returned: an optimizer takes it for whatever suits it.
#include <stdio.h>
int get(int is_set) {
  int x;
  if (is_set)
    x = 1;
  return x;
}
int main(void) {
  volatile int is_set = 0;
  printf("%s\n", get(is_set) == 1 ? "set" : "not set");
}
