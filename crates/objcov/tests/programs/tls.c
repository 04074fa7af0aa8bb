// Thread-local variables in every access model; the linker rewrites such sequences as a whole.
#include <pthread.h>
#include <stdio.h>
__thread int global_counter = 5;
static __thread int first_local, second_local = 9;
extern __thread int other_counter;
__thread int other_counter = 70;
__attribute__((noinline)) int used_step(int n) {
    for (int i = 0; i < n; i++) {
        if (i & 1) global_counter += i; else first_local -= i;
        if (i % 3 == 0) second_local ^= global_counter + first_local;
        while (other_counter > 60) other_counter--;
    }
    return global_counter + first_local * 3 + second_local * 7 + other_counter;
}
static void *used_thread(void *arg) { return (void *)(long)used_step((int)(long)arg); }
int unused_tls(void) { return other_counter ? global_counter : first_local; }
int main(int argc, char **argv) {
    (void)argv;
    pthread_t t[3];
    void *r[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, used_thread, (void *)(i * 10 + argc));
    for (int i = 0; i < 3; i++) pthread_join(t[i], &r[i]);
    printf("%ld %ld %ld %d\n", (long)r[0], (long)r[1], (long)r[2], used_step(12));
    return argc > 3 ? unused_tls() : 0;
}
