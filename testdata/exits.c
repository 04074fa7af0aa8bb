#include <stdio.h>
#include <stdlib.h>

static void leave(void) { printf("handler\n"); }

int main(void) {
  atexit(leave);
  printf("main\n");
  fprintf(stderr, "aside\n");
  exit(7);
}
