// Compresses and expands with zlib; prints sizes and checksums.
#include <stdio.h>
#include <string.h>
#include <zlib.h>
int main(int argc, char **argv) {
    (void)argv;
    static unsigned char in[70000], out[90000], back[70000];
    unsigned seed = 1;
    for (unsigned i = 0; i < sizeof in; i++) in[i] = "abcabdxyz "[(seed = seed * 1103515245u + 12345u) >> 16 & (i & 64 ? 7 : 3)];
    for (int level = 0; level <= 9; level++) {
        uLongf n = sizeof out, m = sizeof back;
        int a = compress2(out, &n, in, sizeof in, level), b = uncompress(back, &m, out, n);
        printf("%d %d %d %lu %lu %lx %d\n", level, a, b, n, m, crc32(0, out, n), memcmp(in, back, m));
    }
    out[40] ^= 0xff;
    uLongf m = sizeof back;
    printf("%d %lx\n", uncompress(back, &m, out, 500), adler32(1, in, sizeof in));
    if (argc > 4) deflateCopy(0, 0);
    return 0;
}
