// Arrays in place: sorts, searches, permutations, matrices of small integers.
static void swap(int *a, int *b) {
  int kept = *a;
  *a = *b;
  *b = kept;
}

static void quick(int *values, int low, int high) {
  if (low >= high)
    return;
  int pivot = values[(low + high) / 2], i = low, j = high;
  while (i <= j) {
    while (values[i] < pivot)
      i++;
    while (values[j] > pivot)
      j--;
    if (i <= j)
      swap(&values[i++], &values[j--]);
  }
  quick(values, low, j);
  quick(values, i, high);
}

static void insertion(short *values, int count) {
  for (int i = 1; i < count; i++) {
    short value = values[i];
    int j = i;
    for (; j > 0 && values[j - 1] > value; j--)
      values[j] = values[j - 1];
    values[j] = value;
  }
}

static int search(const int *values, int count, int wanted) {
  int low = 0, high = count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (values[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && values[low] == wanted ? low : -1;
}

static int queens(int size, int row, unsigned columns, unsigned left, unsigned right) {
  if (row == size)
    return 1;
  int count = 0;
  for (int column = 0; column < size; column++) {
    unsigned bit = 1u << column;
    if (columns & bit || left & bit || right & bit)
      continue;
    count += queens(size, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
  }
  return count;
}

static unsigned char sieve[200];

static int primes(int limit) {
  int count = 0;
  for (int i = 2; i < limit; i++) {
    if (sieve[i])
      continue;
    count++;
    for (int j = i * i; j < limit; j += i)
      sieve[j] = 1;
  }
  return count;
}

static long long table[24];

static long long fibonacci(int n) {
  if (n < 2)
    return n;
  if (!table[n])
    table[n] = fibonacci(n - 1) + fibonacci(n - 2);
  return table[n];
}

int main(void) {
  int values[40];
  short small[12];
  for (int i = 0; i < 40; i++)
    values[i] = (i * 37) % 41;
  for (int i = 0; i < 12; i++)
    small[i] = (short)(7 * i % 12 - 5);
  quick(values, 0, 39);
  insertion(small, 12);
  return (search(values, 40, 17) + queens(5, 0, 0, 0, 0) + primes(200) + small[3] +
          (int)fibonacci(20)) &
         127;
}
