// Global state, small fields, constant tables, atomic counters, vectors.
#include <stdatomic.h>
#include <stdint.h>

typedef int vector __attribute__((vector_size(16)));

static const uint32_t rounds[8] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
                                   0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5};
static struct {
  unsigned kind : 3;
  signed level : 5;
  unsigned long long mask : 40;
} settings = {5, -7, 0xabcdef};

static int counter, limit = 10;
static atomic_int shared;
static uint8_t image[8][8];
extern int outside(int);
__attribute__((weak)) int outside(int value) { return value * 2 + limit; }

static inline uint32_t rotate(uint32_t value, unsigned by) {
  return value >> by | value << (32 - by);
}

static uint32_t digest(const uint32_t *words) {
  uint32_t a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372;
  for (int i = 0; i < 8; i++) {
    uint32_t choice = (a & b) ^ (~a & c);
    uint32_t sum = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    uint32_t next = c + choice + sum + rounds[i] + words[i & 3];
    c = b;
    b = a;
    a = next;
  }
  return a ^ b ^ c;
}

static int tick(void) {
  static int calls;
  if (++calls > limit)
    calls = 0;
  counter += calls;
  atomic_fetch_add(&shared, 1);
  return calls;
}

static vector blend(vector a, vector b) {
  vector larger = a > b;
  return (a & larger) | (b & ~larger);
}

static void blur(void) {
  for (int y = 1; y < 7; y++)
    for (int x = 1; x < 7; x++) {
      int sum = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          sum += image[y + dy][x + dx];
      image[y][x] = (uint8_t)(sum / 9);
    }
}

int main(void) {
  uint32_t words[4] = {1, 2, 3, 4};
  for (int i = 0; i < 64; i++)
    image[i / 8][i % 8] = (uint8_t)(i * 5);
  for (int i = 0; i < 25; i++)
    tick();
  blur();
  settings.level += 3;
  settings.mask ^= digest(words);
  vector v = blend((vector){1, 8, 3, 9}, (vector){4, 2, 6, 5});
  int expected = 25;
  if (!atomic_compare_exchange_strong(&shared, &expected, 0))
    return 1;
  return (counter + outside(3) + settings.kind + settings.level + image[3][3] + v[0] + v[3] +
          (int)(settings.mask & 7)) &
         127;
}
