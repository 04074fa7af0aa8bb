#include <stdlib.h>
#include <string.h>
char *volatile last;
int main(void) {
  for (;;) {
    last = malloc(1 << 20);
    if (last)
      memset(last, 1, 1 << 20);
  }
}
