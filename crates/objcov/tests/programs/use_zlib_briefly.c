// A short run of zlib, for single-stepping.
#include <stdio.h>
#include <string.h>
#include <zlib.h>
int main(void) {
    unsigned char out[400], back[400];
    const char *in = "to be or not to be, that is the question: whether to be or to have been, or not to have been at all";
    uLongf n = sizeof out, m = sizeof back;
    int a = compress2(out, &n, (const Bytef *)in, strlen(in), 6), b = uncompress(back, &m, out, n);
    printf("%d %d %lu %lu %lx\n", a, b, n, m, crc32(0, out, n));
    return 0;
}
