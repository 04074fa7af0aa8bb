#include <stdio.h>

static void add(int *sum, int price) { *sum += price; }

/* What a basket costs: things for 1, 2, 3 and so on, until it is worth more than 10. */
static int basket(int n) {
    int sum = 0;
    for (int i = 1; i <= n; i++) {
        if (sum > 10)
            break;
        add(&sum, i);
    }
    return sum;
}

int main(void) {
    printf("%d\n", basket(8));
    return 0;
}
