// A function chosen at load time, weak symbols, aliases and a constructor.
#include <stdio.h>
static int slow(int x) { return x + 1; }
static int fast(int x) { return x + 2; }
static int (*resolve(void))(int) { return sizeof(void *) == 8 ? fast : slow; }
int used_chosen(int x) __attribute__((ifunc("resolve")));
__attribute__((weak)) int used_weak(int x) { return x > 3 ? 30 : 40; }
int used_alias(int x) __attribute__((alias("used_weak")));
static int ready;
__attribute__((constructor)) static void prepare(void) { ready = 1; }
__attribute__((destructor)) static void finish(void) { puts("finish"); }
int unused_weak(int x) { return used_alias(x) + slow(x); }
int main(int argc, char **argv) {
    (void)argv;
    printf("%d %d %d %d\n", used_chosen(argc), used_weak(argc), used_alias(argc + 9), ready);
    return argc > 3 ? unused_weak(argc) : 0;
}
