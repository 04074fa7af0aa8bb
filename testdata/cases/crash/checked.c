#include <limits.h>
#include <stdio.h>

/* The sum, or the first operand where the sum would overflow. */
static int checked_add(int a, int b) {
    if ((a > 0 && b > 0 && a > INT_MAX - b) || (a < 0 && b < 0 && a < INT_MIN - b)) return a;
    return a + b;
}

int main(void) {
    printf("%d\n", checked_add(3, 4));
    printf("%d\n", checked_add(INT_MAX, 1));
    printf("%d\n", checked_add(-5, INT_MIN));
    return 0;
}
