#include "lists.h"

static int total;

__attribute__((noinline)) static void add(int number) {
    total += number;
}

__attribute__((noinline)) static int last(const struct list *list) {
    return list->length;
}

int list_sum(const struct list *list) {
    total = 0;
    for (int i = 0; i < last(list); i++)
        add(list->numbers[i]);
    return total;
}
