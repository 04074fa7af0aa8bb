#include <errno.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  for (int i = 0; i < 100000; i++) {
    if (fork() < 0) {
      printf("fork refused: %s\n", errno == EPERM ? "EPERM" : "other");
      return 0;
    }
  }
  return 1;
}
