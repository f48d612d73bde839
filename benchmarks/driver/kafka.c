/* Kafka frames: a 32-bit length, then a reply. Consumers ask with Fetch v11, which is not yet
 * flexible: every field of its reply is at a place that follows from the lengths before it. */
#include "driver.h"

#include <string.h>

#define LENGTH_BYTES 4
#define FETCH_FIXED_BYTES (4 + 4 + 2 + 4 + 4) /* correlation id .. the number of topics */
#define BATCH_LENGTH_AT 8
#define BATCH_LAST_OFFSET_DELTA_AT 23
#define BATCH_COUNT_AT 57
#define BATCH_HEADER_BYTES 61

static int is_zero_16(const char *at) { return at[0] == 0 && at[1] == 0; }

/* Counts the records of whole batches and asks for what follows the last of them. */
static void take_fetched(struct connection *connection, const char *reply, size_t size) {
    if (size < FETCH_FIXED_BYTES || !is_zero_16(reply + 8)) fail("a fetch was refused");
    const char *at = reply + FETCH_FIXED_BYTES, *end = reply + size;
    if (big_endian_32(at - 4)) {
        size_t name_bytes = (size_t)((unsigned char)at[0] << 8 | (unsigned char)at[1]);
        at += 2 + name_bytes + 4 + 4; /* the number of partitions, the partition */
        if (!is_zero_16(at)) fail("a fetch was refused");
        at += 2 + 8 + 8 + 8;
        uint32_t aborted = big_endian_32(at);
        if (aborted && aborted != UINT32_MAX) fail("there are aborted transactions");
        at += 4 + 4;
        size_t records = big_endian_32(at);
        at += 4;
        if (records == UINT32_MAX) records = 0; /* none at all, rather than an empty row of them */
        if (at + records > end) fail("a fetch is cut");
        end = at + records;
        while (end - at >= BATCH_HEADER_BYTES) {
            size_t batch = 12 + (size_t)big_endian_32(at + BATCH_LENGTH_AT);
            if (at + batch > end) break; /* the last one may come cut short */
            uint64_t offset = big_endian_64(at) + big_endian_32(at + BATCH_LAST_OFFSET_DELTA_AT);
            put_big_endian_64(settings.ask.data + settings.offset_at, offset + 1);
            connection->delivered += big_endian_32(at + BATCH_COUNT_AT);
            at += batch;
        }
    }
    say(connection, settings.ask.data, settings.ask.size);
}

static size_t take(struct connection *connection, const char *bytes, size_t size,
                   struct found *found) {
    if (size < LENGTH_BYTES) return 0;
    size_t length = big_endian_32(bytes), whole = LENGTH_BYTES + length;
    if (size < whole) return 0;
    if (connection->role == CONSUMER) {
        take_fetched(connection, bytes + LENGTH_BYTES, length);
        return whole;
    }
    if (settings.error_at + 2 > (long)length) fail("a reply is too short");
    if (is_zero_16(bytes + LENGTH_BYTES + settings.error_at)) found->acked++;
    else found->refused++;
    return whole;
}

const struct protocol KAFKA = {"kafka", 0, take};
