// Label differences are constants without relocations: this object must be refused, not broken.
#include <stdio.h>
int main(int argc, char **argv) {
    (void)argv;
    static const int offsets[] = {&&a - &&a, &&b - &&a, &&c - &&a};
    int n = argc;
again:
    if (n > 5) return n;
    goto *(&&a + offsets[n % 3]);
a: puts("a"); n += 1; goto again;
b: puts("b"); n += 2; goto again;
c: puts("c"); n += 3; goto again;
}
