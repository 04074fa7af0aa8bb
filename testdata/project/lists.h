struct list {
    int numbers[16];
    int length;
};
void list_fill(struct list *list, int length);
int list_sum(const struct list *list);
