#include <stdio.h>
#include <sys/stat.h>
int main(void) {
  int is_new = mkdir("locked", 0300) == 0;
  FILE *file = fopen("locked/file", "w");
  printf("locked: %s\n", is_new && file ? "made" : "refused");
  return 0;
}
