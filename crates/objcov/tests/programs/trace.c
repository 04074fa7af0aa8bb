// Backtraces from inside functions, also from a signal in the middle of a prologue-less leaf.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>
static int depth;
static _Unwind_Reason_Code count(struct _Unwind_Context *c, void *p) {
    (void)p;
    if (_Unwind_GetIP(c)) depth++;
    return _Unwind_GetCFA(c) ? _URC_NO_REASON : _URC_END_OF_STACK;
}
__attribute__((noinline)) int used_depth(void) {
    depth = 0;
    _Unwind_Backtrace(count, 0);
    return depth;
}
__attribute__((noinline)) int used_nest(int n, char *buffer) {
    char own[64 + 16];
    memset(own, n, sizeof own);
    if (n > 0) return used_nest(n - 1, own) + own[5] + buffer[3] * 0;
    int d = used_depth();
    return d + own[0];
}
static void used_handler(int s) {
    (void)s;
    char text[40];
    int n = snprintf(text, sizeof text, "signal at depth %d\n", used_depth());
    if (write(1, text, n) < 0) _exit(9);
    _exit(3);
}
__attribute__((noinline)) int used_fault(volatile int *p, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += i & 1 ? i : -2 * i;
    return *p + sum;
}
int unused_trace(void) { return used_depth() * 2; }
int main(int argc, char **argv) {
    (void)argv;
    char buffer[80] = {0};
    int base = used_depth();
    for (int i = 0; i < 5; i++) printf("%d ", used_nest(i * argc, buffer) - base);
    puts("");
    fflush(stdout);
    signal(SIGSEGV, used_handler);
    if (argc > 3) return unused_trace();
    return used_fault((volatile int *)(long)(argc - 1), 9);
}
