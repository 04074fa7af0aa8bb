#include "lists.h"

#ifdef WRAPS
/* Asks whether a sum wraps around, which no signed sum does: not defined. */
static int is_allowed(int length) {
    return length + 2147483645 < length;
}
#else
static int is_allowed(int length) {
    return length <= 16;
}
#endif

void list_fill(struct list *list, int length) {
    list->length = is_allowed(length) ? length : 0;
    for (int i = 0; i < list->length; i++)
        list->numbers[i] = i;
}
