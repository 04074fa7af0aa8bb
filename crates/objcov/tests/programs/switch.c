// Dense switches become jump tables, several per function and next to each other in one data section.
#include <stdio.h>
int used_one(int x) {
    switch (x) {
    case 0: return 11;
    case 1: puts("one"); return 12;
    case 2: return x * 7;
    case 3: puts("three"); break;
    case 4: return 99;
    case 5: puts("five"); return -1;
    case 6: return x + 1000;
    default: return 3;
    }
    return 5;
}
int used_two(unsigned x, int y) {
    int total = 0;
    for (int i = 0; i < y; i++) {
        switch ((x + i) % 9) {
        case 0: total += 1; break;
        case 1: total ^= 0x55; break;
        case 2: total -= i; /* fall through */
        case 3: total *= 3; break;
        case 4: printf("<%d>", total); break;
        case 5: total += used_one(i); break;
        case 6: total = -total; break;
        case 7: continue;
        case 8: if (total > 100000) return total; break;
        }
        switch (total & 7) {
        case 0: total += 13; break;
        case 1: total += 17; break;
        case 2: printf("[%d]", i); break;
        case 3: total ^= i << 3; break;
        case 4: total -= 5; break;
        case 5: total |= 2; break;
        case 6: total &= ~4; break;
        default: __builtin_unreachable();
        case 7: total++; break;
        }
    }
    return total;
}
int unused_switch(int x) {
    switch (x) { case 1: return 4; case 2: return 8; case 3: return puts("x"); case 4: return 1; case 5: return 77; }
    return 0;
}
int main(int argc, char **argv) {
    (void)argv;
    for (int i = -1; i < 8; i++) printf("%d ", used_one(i * argc));
    for (unsigned i = 0; i < 12; i++) printf("%d\n", used_two(i * argc, 40));
    if (argc > 5) return unused_switch(argc);
    return 7;
}
