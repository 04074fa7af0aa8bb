// Compresses and expands with zstd; prints sizes and a checksum.
#include <stdio.h>
#include <string.h>
#include <zstd.h>
int main(void) {
    static unsigned char in[60000], out[80000], back[60000];
    unsigned seed = 7;
    for (unsigned i = 0; i < sizeof in; i++) in[i] = (seed = seed * 1103515245u + 12345u) >> 16 & (i & 256 ? 15 : 1);
    for (int level = -1; level <= 19; level += 2) {
        size_t n = ZSTD_compress(out, sizeof out, in, sizeof in, level);
        size_t m = ZSTD_decompress(back, sizeof back, out, n);
        unsigned long sum = 0;
        for (size_t i = 0; i < n; i++) sum = sum * 31 + out[i];
        printf("%d %zu %zu %lx %d\n", level, n, m, sum, memcmp(in, back, m));
    }
    out[9] ^= 0x55;
    printf("%s\n", ZSTD_getErrorName(ZSTD_decompress(back, sizeof back, out, 60)));
    return 0;
}
