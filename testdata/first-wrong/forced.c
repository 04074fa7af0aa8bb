int printf(const char *, ...);
static int total;
__attribute__((noinline)) static void add(int x) { total += x; }
int main(void) {
  for (int i = 0; i < 4; ++i)
    add(i);
  printf("%d\n", total);
  return 0;
}
