// Floating point: polynomials, matrices, conversions, library functions.
#include <math.h>

static double horner(const double *coefficients, int degree, double x) {
  double value = coefficients[degree];
  for (int i = degree - 1; i >= 0; i--)
    value = value * x + coefficients[i];
  return value;
}

static void multiply(double to[4][4], double p[4][4], double q[4][4]) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      double sum = 0.0;
      for (int k = 0; k < 4; k++)
        sum += p[i][k] * q[k][j];
      to[i][j] = sum;
    }
}

static float length(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }

static int round_half(double value) { return (int)floor(value + 0.5); }

static double root(double value) {
  double guess = value > 1.0 ? value / 2.0 : 1.0;
  for (int i = 0; i < 20; i++) {
    double next = 0.5 * (guess + value / guess);
    if (fabs(next - guess) < 1e-12)
      break;
    guess = next;
  }
  return guess;
}

static float clamp(float value, float low, float high) {
  return value < low ? low : value > high ? high : value;
}

static long long to_fixed(double value) { return (long long)(value * 65536.0); }

int main(void) {
  double coefficients[5] = {1.0, -0.5, 0.25, 3.0, -2.0};
  double p[4][4], q[4][4], r[4][4];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      p[i][j] = i == j ? 2.0 : 0.25 * (double)(i - j);
      q[i][j] = (double)(i + 1) / (double)(j + 2);
    }
  multiply(r, p, q);
  float samples[16];
  for (int i = 0; i < 16; i++)
    samples[i] = clamp((float)i * 0.3f - 1.0f, 0.0f, 2.0f);
  double total = horner(coefficients, 4, 0.75) + r[1][2] + root(2.0) + pow(1.5, 3.0);
  for (int i = 0; i < 16; i++)
    total += samples[i] > 1.0f ? exp(-(double)samples[i]) : (double)samples[i];
  return round_half(total + (double)length(1.0f, 2.0f, 2.0f)) + (int)(to_fixed(0.125) >> 10) +
         (isnan(total) ? 1 : 0);
}
