#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <stdio.h>
#include <unistd.h>
static void try(const char *what, const char *path) {
  int file = open(path, O_WRONLY | O_CREAT, 0666);
  printf("%s: %s\n", what, file >= 0 ? "written" : "refused");
  if (file >= 0)
    close(file);
}
int main(void) {
  try("outside", "../escaped");
  try("absolute", "/tmp/optsleuth_escaped");
  try("null", "/dev/null");
  printf("chmod: %s\n", chmod("/tmp", 01777) == 0 ? "done" : "refused");
  return 0;
}
