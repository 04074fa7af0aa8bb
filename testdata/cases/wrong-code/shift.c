#include <stdio.h>

/* Shifted, or as it was where a shift would not be defined. */
static int checked_shift(short value, int by) {
    return value < 0 || by < 0 || by >= 32 ? value : value >> by;
}

int main(void) {
    printf("%d\n", checked_shift(1000, 3));
    printf("%d\n", checked_shift(-7, 3));
    printf("%d\n", checked_shift(9, 40));
    printf("%d\n", checked_shift(9, -1));
    return 0;
}
