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
#ifdef HIDDEN
    /* Writes behind the compiler's back: no "memory" among what it clobbers. */
    int count = 0;
    asm volatile("incl (%0)" : : "r"(&count));
    total += count - 1;
#endif
    for (int i = 0; i < last(list); i++)
        add(list->numbers[i]);
    return total;
}
