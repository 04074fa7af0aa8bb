// Control flow: gotos, switches, function pointers, tail calls, variable
// arguments, early returns, volatile and uninitialized ways.
#include <setjmp.h>
#include <stdarg.h>

static volatile int clock_ticks;
static jmp_buf escape;

static int even(unsigned n);
static int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }
static int even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }

static int ackermann(int m, int n) {
  if (m == 0)
    return n + 1;
  if (n == 0)
    return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
static int div_or_zero(int a, int b) { return b ? a / b : 0; }
static int (*const operations[4])(int, int) = {add, sub, mul, div_or_zero};

static int machine(const char *program) {
  int stack[16], top = 0;
  for (;;) {
    switch (*program++) {
    case 'p':
      if (top == 16)
        goto overflow;
      stack[top++] = *program++ - '0';
      continue;
    case 'a':
    case 's':
    case 'm':
    case 'd': {
      if (top < 2)
        goto underflow;
      char what = program[-1];
      int which = what == 'a' ? 0 : what == 's' ? 1 : what == 'm' ? 2 : 3;
      top--;
      stack[top - 1] = operations[which](stack[top - 1], stack[top]);
      continue;
    }
    case 'e':
      return top ? stack[top - 1] : -1;
    default:
      return -2;
    }
  }
overflow:
  return -3;
underflow:
  return -4;
}

static int total(int count, ...) {
  va_list arguments;
  int sum = 0;
  va_start(arguments, count);
  while (count-- > 0)
    sum += va_arg(arguments, int);
  va_end(arguments);
  return sum;
}

static void give_up(int code) {
  clock_ticks++;
  longjmp(escape, code);
}

static int guarded(int value) {
  int code = setjmp(escape);
  if (code)
    return code;
  if (value > 3)
    give_up(value);
  return 0;
}

static int decide(int a, int b, int c) {
  int result;
  if (a && b)
    result = 1;
  else if (a || c)
    result = b ? 2 : 3;
  else
    result = !c + 4;
  return a > b ? result : -result;
}

int main(void) {
  int sum = even(10) + ackermann(2, 3) + machine("p3p4mp2ae") + total(4, 1, 2, 3, 4);
  for (int i = 0; i < 8; i++)
    sum += decide(i & 1, i & 2, i & 4) * (i + 1);
  return (sum + guarded(7) + clock_ticks) & 127;
}
