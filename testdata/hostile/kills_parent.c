#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  printf("parent: %s\n", kill(getppid(), SIGKILL) == 0 ? "killed" : "refused");
  printf("everybody: %s\n", kill(-1, SIGKILL) == 0 ? "killed" : "refused");
  return 0;
}
