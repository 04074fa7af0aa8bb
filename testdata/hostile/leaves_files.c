#include <stdio.h>
#include <sys/stat.h>
int main(void) {
  int is_new = mkdir("folder", 0777) == 0;
  FILE *file = fopen("folder/file", "w");
  int is_written = file && fputs("x", file) >= 0;
  printf("private: %s\n", is_new && is_written ? "written" : "refused");
  return 0;
}
