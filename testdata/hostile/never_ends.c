volatile int running = 1;
int main(void) {
  while (running) {
  }
  return 0;
}
