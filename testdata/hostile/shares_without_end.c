#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
int main(void) {
  for (;;) {
    char *more = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (more != MAP_FAILED)
      memset(more, 1, 1 << 20);
  }
}
