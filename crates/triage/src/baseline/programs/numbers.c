// Integer arithmetic of all widths: division, shifts, masks, comparisons.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned long long u64;

int gcd(int a, int b) {
  while (b != 0) {
    int rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

unsigned count_bits(unsigned value) {
  unsigned count = 0;
  for (; value; value &= value - 1)
    count++;
  return count;
}

u64 power(u64 base, unsigned exponent, u64 modulus) {
  u64 result = 1;
  while (exponent) {
    if (exponent & 1)
      result = result * base % modulus;
    base = base * base % modulus;
    exponent >>= 1;
  }
  return result;
}

short saturate(int value) {
  if (value > 32767)
    return 32767;
  if (value < -32768)
    return -32768;
  return (short)value;
}

u16 checksum(const u8 *bytes, int length) {
  unsigned sum = 0;
  for (int i = 0; i < length; i++) {
    sum = (sum << 1 | sum >> 15) & 0xffff;
    sum += bytes[i] * 31u + (unsigned)i / 3u;
  }
  return (u16)(sum ^ sum >> 16);
}

int is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

long long mix(signed char a, short b, int c, long long d) {
  return a * (1LL << 40) + b * (long long)c - d / (c | 1) + ((u64)d >> 7);
}

int main(void) {
  u8 bytes[64];
  for (int i = 0; i < 64; i++)
    bytes[i] = (u8)(i * i + 3);
  return gcd(462, 1071) + (int)count_bits(0xf0f1u) + (int)power(3, 200, 1000003) % 7 +
         saturate(checksum(bytes, 64)) % 5 + is_leap(2000) + (int)(mix(-3, 4, 5, -6) & 15);
}
