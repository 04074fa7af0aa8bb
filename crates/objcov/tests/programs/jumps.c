// setjmp, tail calls, recursion, varargs, function pointers, qsort callbacks, long conditional jumps.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf env;
__attribute__((noinline)) void used_leap(int depth) {
    if (depth == 0) longjmp(env, 17);
    used_leap(depth - 1);
    puts("never");
}
__attribute__((noinline)) long used_sum(int n, ...) {
    va_list ap;
    long total = 0;
    va_start(ap, n);
    while (n--) total += n & 1 ? va_arg(ap, int) : (long)va_arg(ap, double);
    va_end(ap);
    return total;
}
__attribute__((noinline)) int used_even(unsigned n);
__attribute__((noinline)) int used_odd(unsigned n) { return n == 0 ? 0 : used_even(n - 1); }
__attribute__((noinline)) int used_even(unsigned n) { return n == 0 ? 1 : used_odd(n - 1); }
static int by_value(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}
static int add(int a, int b) { return a + b; }
static int mul(int a, int b) { return a * b; }
static int unused_sub(int a, int b) { return a - b; }
static int (*const operations[])(int, int) = {add, mul, unused_sub};
// Without position independence one instruction holds both the variable and the function.
static int (*current)(int, int);
__attribute__((noinline)) int used_both(int x) {
    if (x > 1) current = mul; else current = add;
    return current == add ? 1 : current(x, 3);
}
__attribute__((noinline)) int used_far(int x, volatile int *v) {
    for (int i = 0; i < x; i++) {
        if (i % 3) {
            for (int k = 0; k < 3; k++) { *v += k * i; *v ^= 0x1234; *v += k << 4; *v -= 77; *v *= 3; *v |= 1; }
            if (*v & 16) { *v += 100; *v ^= 0x4321; *v -= 5; *v *= 7; *v += i; *v ^= 3; *v += 12345; *v -= 99; }
        } else {
            if (*v % 5 == 0) { *v += 1; *v ^= 0x777; *v -= 5; *v *= 11; *v += i; *v ^= 9; *v += 54321; *v -= 11; }
            *v = *v / 3 + 1;
        }
    }
    return *v;
}
int main(int argc, char **argv) {
    (void)argv;
    volatile int v = 3;
    int numbers[] = {5, 3, 9, -4, 22, 0, 7};
    int landed = setjmp(env);
    if (landed == 0) used_leap(10 * argc);
    printf("%d %ld\n", landed, used_sum(4, 1.5, 2, 3.5, 4));
    printf("%d %d\n", used_even(100001u * argc), used_odd(77u * argc));
    qsort(numbers, 7, sizeof *numbers, by_value);
    for (int i = 0; i < 7; i++) printf("%d ", numbers[i]);
    for (int i = 0; i < 2; i++) printf("%d ", operations[i % 3 * argc](6, 7));
    printf("%d %d %d\n", used_far(50, &v), used_both(argc), used_both(argc + 4));
    return argc > 7 ? unused_sub(argc, 3) : 0;
}
