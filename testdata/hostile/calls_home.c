#include <stdio.h>
#include <sys/socket.h>
int main(void) {
  printf("socket: %s\n", socket(AF_INET, SOCK_STREAM, 0) >= 0 ? "made" : "refused");
  return 0;
}
