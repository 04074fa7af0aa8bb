#include <stdio.h>

/* Shifted, or as it was where a shift would not be defined. */
static int checked_shift(short value, int by) {
    return value < 0 || by < 0 || by >= 32 ? value : value >> by;
}

int main(void) {
    int sum = 0, rounds = 0;
    while (sum < 100) {
        /* Anything but 9, which may be whatever a register held, adds nothing. */
        sum += checked_shift(9, -1) == 9 ? 9 : 0;
        rounds++;
    }
    printf("%d after %d rounds\n", sum, rounds);
    return 0;
}
