// Loops that optimizers like: sums, nests, strides, early exits, memory idioms.
#define N 128

static int a[N], b[N], c[N];
static float x[N], y[N];
static int grid[16][16];

int sum(const int *values, int count) {
  int total = 0;
  for (int i = 0; i < count; i++)
    total += values[i];
  return total;
}

void add(int *restrict to, const int *restrict p, const int *restrict q, int count) {
  for (int i = 0; i < count; i++)
    to[i] = p[i] + q[i] * 3;
}

float dot(int count) {
  float total = 0.0f;
  for (int i = 0; i < count; i++)
    total += x[i] * y[i];
  return total;
}

void fill(void) {
  for (int i = 0; i < N; i++) {
    a[i] = 0;
    b[i] = i;
    c[i] = N - i;
    x[i] = (float)i * 0.5f;
    y[i] = i % 2 ? 1.0f : -2.0f;
  }
}

int find(const int *values, int count, int wanted) {
  for (int i = 0; i < count; i++)
    if (values[i] == wanted)
      return i;
  return -1;
}

void spread(void) {
  for (int i = 1; i < 15; i++)
    for (int j = 1; j < 15; j++)
      grid[i][j] = (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]) / 4 + i * j;
}

int triangle(int count) {
  int total = 0;
  for (int i = 0; i < count; i++)
    for (int j = i; j < count; j += 2)
      total += (i ^ j) > 5 ? 1 : j;
  return total;
}

void copy(char *to, const char *from, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    to[i] = from[i];
}

unsigned collatz(unsigned n) {
  unsigned steps = 0;
  do {
    n = n % 2 ? 3 * n + 1 : n / 2;
    steps++;
  } while (n != 1 && steps < 1000);
  return steps;
}

int maximum(const int *values, int count, int scale) {
  int best = values[0];
  for (int i = 1; i < count; i++) {
    int value = values[i] * (scale + 2);
    if (value > best)
      best = value;
  }
  return best;
}

int main(void) {
  char text[32], other[32] = "a text to be copied around";
  fill();
  add(a, b, c, N);
  spread();
  copy(text, other, 32);
  return (sum(a, N) + find(c, N, 77) + triangle(20) + (int)dot(N) + (int)collatz(27) + text[3] +
          grid[7][9] + maximum(b, N, 3)) &
         127;
}
