// Reads behind a table that has no 0. The 0 behind it is another table's, so
// whoever knows all elements of this one knows better.
#include <stdio.h>
static const int table[4] = {1, 2, 3, 4};
static const int behind[4] = {0, 0, 0, 0};
int is_end(int i) { return table[i] == 0; }
int main(void) {
  volatile int i = 4;
  printf("%d%d\n", is_end(i), behind[i & 3]);
}
