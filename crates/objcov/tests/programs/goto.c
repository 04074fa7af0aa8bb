// Computed goto through a table of label addresses: an interpreter loop.
#include <stdio.h>
__attribute__((noinline)) int used_interpreter(const unsigned char *code, int acc) {
    static void *const table[] = {&&inc, &&dec, &&twice, &&print, &&skip, &&halt};
#define NEXT goto *table[*code++]
    NEXT;
inc: acc++; NEXT;
dec: acc--; NEXT;
twice: acc *= 2; NEXT;
print: printf("%d\n", acc); NEXT;
skip: code++; NEXT;
halt: return acc;
}
int unused_thing(int x) { return x ? printf("no") : 4; }
int main(int argc, char **argv) {
    (void)argv;
    static const unsigned char program[] = {0, 0, 2, 3, 4, 9, 1, 2, 3, 5};
    int r = used_interpreter(program, argc);
    return argc > 3 ? unused_thing(r) : r & 63;
}
