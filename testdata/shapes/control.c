// Why it exists: one function for each kind of control flow that regions and
// loops are hard to tell in.
int choose(int x) {
  switch (x) {
  case 1:
    return 10;
  case 2:
    x += 3;
  case 3:
  case 4:
    x *= 2;
    break;
  default:
    x = -x;
  }
  return x;
}

// Two ways into a loop: none of them is its entry.
int irreducible(int x) {
  if (x & 1)
    goto middle;
top:
  x -= 3;
middle:
  x -= 1;
  if (x > 0)
    goto top;
  return x;
}

// Control comes in and never out.
void endless(volatile int *x) {
  for (;;)
    if (*x)
      *x = 1;
    else
      *x = 2;
}

// Endless on one side only.
int half_endless(int x) {
  if (x)
    for (;;)
      ;
  return 1;
}

int returns(int x) {
  if (x == 1)
    return 4;
  while (x > 3) {
    if (x == 7)
      return 5;
    x--;
  }
  return x;
}

// Nothing reaches the loop behind the return; its label keeps it.
int unreachable(int x) {
  return x;
again:
  x--;
  if (x)
    goto again;
  return 3;
}

int direct(int x) { return x < 2 ? 1 : x * direct(x - 1); }

int odd(int x);
int even(int x) { return x == 0 ? 1 : odd(x - 1); }
int odd(int x) { return x == 0 ? 0 : even(x - 1); }

// A jump whose target is only known when it is made.
int computed(int x) {
  static void *const places[] = {&&one, &&two};
  goto *places[x & 1];
one:
  x += 1;
two:
  x += 2;
  return x;
}

int printf(const char *, ...);
int main(void) {
  printf("%d\n", choose(2) + irreducible(9) + returns(8) + unreachable(1) +
                     direct(4) + even(6) + odd(3) + computed(0) + odd(1));
  return half_endless(0) - 1;
}
