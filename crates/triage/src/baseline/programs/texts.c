// Strings and characters: library calls, tables, state machines.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum state { START, WORD, NUMBER, SIGN };

static int classify(int c) {
  switch (c) {
  case ' ':
  case '\t':
  case '\n':
    return START;
  case '0':
  case '1':
  case '2':
  case '3':
  case '4':
  case '5':
  case '6':
  case '7':
  case '8':
  case '9':
    return NUMBER;
  case '+':
  case '-':
    return SIGN;
  default:
    return WORD;
  }
}

static int tokens(const char *text) {
  int count = 0;
  enum state state = START;
  for (; *text; text++) {
    enum state next = (enum state)classify((unsigned char)*text);
    if (next != state && next != START)
      count++;
    state = next;
  }
  return count;
}

static void shout(char *text) {
  for (size_t i = 0, n = strlen(text); i < n; i++)
    text[i] = (char)toupper((unsigned char)text[i]);
}

static int is_palindrome(const char *text) {
  size_t i = 0, j = strlen(text);
  while (i < j)
    if (text[i++] != text[--j])
      return 0;
  return 1;
}

static unsigned hash(const char *text) {
  unsigned value = 2166136261u;
  while (*text)
    value = (value ^ (unsigned char)*text++) * 16777619u;
  return value;
}

static const char *const months[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                     "jul", "aug", "sep", "oct", "nov", "dec"};

static int month(const char *name) {
  for (int i = 0; i < 12; i++)
    if (strncmp(months[i], name, 3) == 0)
      return i + 1;
  return 0;
}

int main(int argc, char **argv) {
  char buffer[64];
  snprintf(buffer, sizeof buffer, "%s %d %c", "count 12 -7 x", argc, 'q');
  int found = tokens(buffer);
  shout(buffer);
  if (strchr(buffer, 'Q'))
    found += 2;
  char *copy = malloc(strlen(buffer) + 1);
  if (!copy)
    return 1;
  strcpy(copy, buffer);
  found += is_palindrome("reviver") + month("augustus") + (int)(hash(copy) & 3);
  found += memcmp(copy, buffer, 5) == 0;
  free(copy);
  printf("%d %s\n", found, argv[0] ? "named" : "nameless");
  return 0;
}
