/* How long things took, each of them, and what came of it in order of size. */
#include "driver.h"

#include <stdlib.h>

static uint32_t *latencies_ns;
static size_t count, room;
static int is_sorted;

void note_latency(uint64_t ns) {
    if (count == room) {
        room = room ? 2 * room : 1 << 16;
        latencies_ns = realloc(latencies_ns, room * sizeof *latencies_ns);
        if (!latencies_ns) fail("no memory");
    }
    latencies_ns[count++] = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
    is_sorted = 0;
}

size_t latencies_noted(void) { return count; }

static int by_size(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

double latency_us(double share) {
    if (!count) return 0;
    if (!is_sorted) qsort(latencies_ns, count, sizeof *latencies_ns, by_size);
    is_sorted = 1;
    return latencies_ns[(size_t)(share * (double)(count - 1))] / 1000.0;
}
