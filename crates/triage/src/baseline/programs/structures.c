// Records, lists, trees and heaps: pointers, recursion, allocation.
#include <stdlib.h>
#include <string.h>

struct point {
  int x, y;
};

struct node {
  struct node *left, *right;
  int key;
  struct point where;
};

static struct node *insert(struct node *tree, int key) {
  if (!tree) {
    struct node *leaf = malloc(sizeof *leaf);
    if (!leaf)
      abort();
    memset(leaf, 0, sizeof *leaf);
    leaf->key = key;
    leaf->where.x = key * 2;
    leaf->where.y = -key;
    return leaf;
  }
  if (key < tree->key)
    tree->left = insert(tree->left, key);
  else if (key > tree->key)
    tree->right = insert(tree->right, key);
  return tree;
}

static int depth(const struct node *tree) {
  if (!tree)
    return 0;
  int left = depth(tree->left), right = depth(tree->right);
  return 1 + (left > right ? left : right);
}

static struct point total(const struct node *tree) {
  struct point sum = {0, 0};
  if (tree) {
    struct point left = total(tree->left), right = total(tree->right);
    sum.x = left.x + right.x + tree->where.x;
    sum.y = left.y + right.y + tree->where.y;
  }
  return sum;
}

static void release(struct node *tree) {
  if (!tree)
    return;
  release(tree->left);
  release(tree->right);
  free(tree);
}

struct list {
  struct list *next;
  union {
    int whole;
    float real;
  } value;
  char is_real;
};

static struct list *reverse(struct list *list) {
  struct list *result = 0;
  while (list) {
    struct list *next = list->next;
    list->next = result;
    result = list;
    list = next;
  }
  return result;
}

int main(void) {
  struct node *tree = 0;
  unsigned state = 12345;
  for (int i = 0; i < 50; i++) {
    state = state * 1103515245u + 12345u;
    tree = insert(tree, (int)(state >> 16) % 1000);
  }
  struct list items[8];
  for (int i = 0; i < 8; i++) {
    items[i].next = i < 7 ? &items[i + 1] : 0;
    items[i].is_real = (char)(i & 1);
    if (items[i].is_real)
      items[i].value.real = (float)i;
    else
      items[i].value.whole = i;
  }
  int sum = 0;
  for (struct list *at = reverse(items); at; at = at->next)
    sum += at->is_real ? (int)at->value.real * 3 : at->value.whole;
  struct point all = total(tree);
  sum += depth(tree) + (all.x + all.y) % 17;
  release(tree);
  return sum & 127;
}
