#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *waits(void *unused) {
  pause();
  return unused;
}
int main(void) {
  pthread_attr_t small;
  pthread_t thread;
  int count = 0;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
  while (count < 10000 && pthread_create(&thread, &small, waits, 0) == 0)
    ++count;
  printf("%d threads\n", count);
  return 0;
}
