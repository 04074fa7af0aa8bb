#include <stdio.h>

static void add(int *sum, int price) { *sum += price; }

/* What the basket costs: prices are added until it is worth more than 10. */
static int basket(const int *prices, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (sum > 10)
            break;
        add(&sum, prices[i]);
    }
    return sum;
}

int main(void) {
    int prices[] = {3, 5, 7, 11, 13};
    printf("%d\n", basket(prices, 5));
    return 0;
}
