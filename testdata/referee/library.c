// A bit of everything that machine code and the referee have to agree on:
// formats, variadic functions, bit-fields, wide integers, long double, heap.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct record {
  int count;
  double weight;
  char name[20];
};
struct bits {
  unsigned a : 3;
  int b : 5;
  unsigned c : 20;
};

static double sum(int n, ...) {
  va_list list;
  va_start(list, n);
  double total = 0;
  for (int i = 0; i < n; ++i)
    total += i & 1 ? va_arg(list, double) : va_arg(list, int);
  va_end(list);
  return total;
}

static void say(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vprintf(format, list);
  va_end(list);
}

static int order(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv) {
  printf("%d %s %f\n", argc, argv[0], sum(4, 1, 2.5, 3, 4.25));
  say("%d %s %5.2f %Lf %lx\n", 3, "abc", 2.345, (long double)1.5, 123456789012L);
  struct record one = {1, 2.0, "hello"}, two = one;
  two.count += 3;
  strcat(two.name, " world");
  printf("%d %g %s %zu\n", two.count, two.weight, two.name, strlen(two.name));
  int *numbers = malloc(10 * sizeof *numbers);
  for (int i = 0; i < 10; ++i)
    numbers[i] = i * i;
  numbers = realloc(numbers, 20 * sizeof *numbers);
  int total = 0;
  for (int i = 0; i < 10; ++i)
    total += numbers[i];
  free(numbers);
  struct bits bits;
  bits.a = 9;
  bits.b = -3;
  bits.c = 77777;
  printf("%d %d %d %d\n", total, bits.a, bits.b, bits.c);
  long double product = 1;
  for (int i = 1; i < 20; ++i)
    product *= i;
  printf("%.3Lf\n", product);
  __int128 wide = 1;
  for (int i = 1; i < 30; ++i)
    wide *= i;
  printf("%llx%016llx\n", (unsigned long long)(wide >> 64), (unsigned long long)wide);
  char text[30];
  snprintf(text, sizeof text, "%*d|%-6s|%+.3e", 6, 42, "ab", 12345.678);
  puts(text);
  float single = 0.1f;
  single *= 3;
  printf("%a %.9g %hhd %hu %#o %c%%\n", single, single, 300, 70000, 8, 'x');
  int (*compare)(const void *, const void *) = order;
  int x = 3, y = 4;
  printf("%d %s\n", compare(&x, &y), strchr("abc", 'b'));
  fprintf(stderr, "to stderr\n");
  return total & 0x7f;
}
