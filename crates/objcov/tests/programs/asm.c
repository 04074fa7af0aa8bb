// Inline assembly with local labels, numeric loops, lock prefixes and calls of functions.
#include <stdio.h>
__attribute__((noinline)) long used_loop(long n) {
    long total = 0;
    __asm__ volatile("test %1, %1\n jz 2f\n 1: add %1, %0\n dec %1\n jnz 1b\n 2:" : "+r"(total), "+r"(n) : : "cc");
    return total;
}
__attribute__((noinline)) int used_swap(int *p, int old, int new_value) {
    int result = old;
    __asm__ volatile("lock cmpxchg %2, %1\n jne 1f\n nop\n 1:" : "+a"(result), "+m"(*p) : "r"(new_value) : "cc", "memory");
    return result;
}
__attribute__((noinline)) int used_goto(int x) {
    __asm__ goto("cmp $5, %0\n jg %l1" : : "r"(x) : "cc" : bigger);
    return 1;
bigger:
    return 2;
}
int unused_asm(int x) { __asm__("neg %0" : "+r"(x)); return x; }
int main(int argc, char **argv) {
    (void)argv;
    int cell = 4;
    printf("%ld %ld\n", used_loop(10 * argc), used_loop(argc - 1));
    printf("%d ", used_swap(&cell, 4, 8));
    printf("%d %d\n", used_swap(&cell, 4, 9), cell);
    printf("%d %d\n", used_goto(argc), used_goto(argc + 9));
    return argc > 3 ? unused_asm(argc) : 0;
}
