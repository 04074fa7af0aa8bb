// A loop that does nothing, and whose condition is no constant, may be taken to end.
#include <stdio.h>
int main(void) {
  unsigned step = 2;
  for (unsigned i = 1; i != 0; i += step)
    ;
  printf("over\n");
}
