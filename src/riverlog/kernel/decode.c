/* Record batches to columns: two functions over plain memory, no Python in them.
 *
 * Nothing is read outside of the ranges that are passed in, whatever the bytes say, and nothing is
 * written beyond the room that `Columns` declares. The rules are those of records/batch.py and
 * records/record.py, and a test holds both to the same results.
 */
#include "kernel.h"

#include <sched.h>

enum { RECORDS_AT_A_TIME = 8192 }; /* read in less than 0.1 ms */
enum { RECORD_BYTES_MIN = 7 }; /* length, attributes, time, offset, key, value, headers */

/* What went wrong with a batch; kernel/library.py has the words. */
enum { OK = 0, CUT = 1, BAD_MAGIC = 2, BAD_LENGTH = 3, BAD_CRC = 4, BAD_COUNT = 5, BAD_CODEC = 6,
       BAD_RECORD = 7, NO_ROOM = 8 };

typedef struct {
    const uint8_t *records; /* where the records begin; the caller sets it after decompressing */
    int64_t records_bytes;
    int64_t base_offset, last_offset_delta, base_timestamp, max_timestamp;
    int64_t position, size; /* of the whole batch in what was scanned */
    int32_t count, attributes;
} Batch;

/* A column of bytes: validity bits, offsets, data. A null pointer: nobody wants this column. */
typedef struct {
    uint8_t *valid;
    int32_t *offsets;
    uint8_t *data;
    int64_t room, used, nulls;
} Bytes;

typedef struct {
    int64_t rows_max, rows; /* room for rows, and how many there are */
    int64_t start_offset, end_offset; /* rows from the first, before the second */
    int64_t *offset, *timestamp_us;
    int32_t *timestamp_type;
    Bytes key, value;
    uint8_t *headers_valid; /* a list of (key, value) for every row; null without any */
    int32_t *headers_offsets;
    int64_t headers_max, headers, headers_nulls;
    Bytes header_key, header_value;
} Columns;

/* CRC-32C, eight tables; with the processor's own instruction where it has one. */

static uint32_t tables[8][256];

static void make_tables(void) {
    for (uint32_t n = 0; n < 256; n++) {
        uint32_t crc = n;
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
        tables[0][n] = crc;
    }
    for (int t = 1; t < 8; t++)
        for (uint32_t n = 0; n < 256; n++)
            tables[t][n] = tables[t - 1][n] >> 8 ^ tables[0][tables[t - 1][n] & 255];
}

static uint32_t crc_by_table(uint32_t crc, const uint8_t *p, int64_t size) {
    /* Several threads may make the tables at once: they write the same numbers. */
    if (!tables[7][255]) make_tables();
    for (; size >= 8; p += 8, size -= 8) {
        uint32_t low = crc ^ ((uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0]);
        crc = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255]
            ^ tables[4][low >> 24] ^ tables[3][p[4]] ^ tables[2][p[5]] ^ tables[1][p[6]]
            ^ tables[0][p[7]];
    }
    while (size-- > 0) crc = crc >> 8 ^ tables[0][(crc ^ *p++) & 255];
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2")))
static uint32_t crc_by_instruction(uint32_t crc, const uint8_t *p, int64_t size) {
    uint64_t wide = crc;
    for (; size >= 8; p += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    while (size-- > 0) crc = __builtin_ia32_crc32qi(crc, *p++);
    return crc;
}
#endif

API uint32_t riverlog_crc32c(const uint8_t *data, int64_t size) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return ~crc_by_instruction(~0u, data, size);
#endif
    return ~crc_by_table(~0u, data, size);
}

API uint32_t riverlog_crc32c_portable(const uint8_t *data, int64_t size) {
    return ~crc_by_table(~0u, data, size);
}

typedef struct {
    int64_t position; /* in: where to begin; out: where the last whole batch ends */
    int64_t batches, compressed;
    int64_t records_bytes, rows_max; /* of those that are not compressed */
} Scan;

/* Describes the whole batches of `data` from `scan->position` on, at most `max` of them. The bytes
 * of a batch that is cut at the end are left alone. Gives the first reason to stop. */
API int riverlog_scan(const uint8_t *data, int64_t size, int check_crcs, Batch *batches,
                      int64_t max, Scan *scan) {
    int64_t at = scan->position;
    scan->batches = scan->compressed = scan->records_bytes = scan->rows_max = 0;
    while (scan->batches < max && size - at >= LENGTH_END) {
        const uint8_t *p = data + at;
        int64_t length = (int32_t)be32(p + 8);
        if (length < LENGTH_MIN) return BAD_LENGTH;
        if (size - at < HEADER_BYTES) break;
        if (p[16] != 2) return BAD_MAGIC;
        if (length + LENGTH_END > size - at) break;
        Batch *b = batches + scan->batches;
        b->position = at;
        b->size = length + LENGTH_END;
        b->base_offset = be64(p);
        b->attributes = (int32_t)((uint32_t)p[21] << 8 | p[22]);
        b->last_offset_delta = (int32_t)be32(p + 23);
        b->base_timestamp = be64(p + 27);
        b->max_timestamp = be64(p + 35);
        b->count = (int32_t)be32(p + 57);
        b->records = p + HEADER_BYTES;
        b->records_bytes = b->size - HEADER_BYTES;
        if (check_crcs && riverlog_crc32c(p + CRC_END, b->size - CRC_END) != be32(p + CRC_AT))
            return BAD_CRC;
        if ((b->attributes & CODEC_BITS) > CODEC_MAX) return BAD_CODEC;
        if (b->count < 0 || b->count > b->last_offset_delta + 1) return BAD_COUNT;
        if (b->attributes & CODEC_BITS) {
            scan->compressed++;
        } else {
            int64_t most = b->records_bytes / RECORD_BYTES_MIN;
            scan->records_bytes += b->records_bytes;
            scan->rows_max += b->count < most ? b->count : most;
        }
        at += b->size;
        scan->position = at;
        scan->batches++;
    }
    return OK;
}

/* A number of up to `bits` bits; 0 if it ends neither in time nor before `end`. */
static inline int varint(const uint8_t **at, const uint8_t *end, int bits, int64_t *value) {
    const uint8_t *p = *at;
    uint64_t raw;
    if (p < end && p[0] < 128) {
        raw = p[0];
        *at = p + 1;
    } else if (end - p >= 2 && p[1] < 128) {
        raw = (uint64_t)(p[0] & 127) | (uint64_t)p[1] << 7;
        *at = p + 2;
    } else {
        int bytes_max = bits == 32 ? 5 : 10, n = 0;
        raw = 0;
        for (;; n++) {
            if (n == bytes_max || p + n >= end) return 0;
            uint64_t byte = p[n];
            if (n == bytes_max - 1 && byte >> (bits - 7 * n)) return 0;
            raw |= (byte & 127) << (7 * n);
            if (byte < 128) break;
        }
        *at = p + n + 1;
    }
    *value = (int64_t)(raw >> 1) ^ -(int64_t)(raw & 1);
    return 1;
}

static int is_utf8(const uint8_t *p, const uint8_t *end) {
    while (p < end) {
        uint8_t lead = *p;
        if (lead < 0x80) { p++; continue; }
        int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
        if (lead < 0xc2 || lead > 0xf4 || end - p <= more) return 0;
        for (int n = 1; n <= more; n++) if ((p[n] & 0xc0) != 0x80) return 0;
        if ((lead == 0xe0 && p[1] < 0xa0) || (lead == 0xed && p[1] > 0x9f)
            || (lead == 0xf0 && p[1] < 0x90) || (lead == 0xf4 && p[1] > 0x8f)) return 0;
        p += more + 1;
    }
    return 1;
}

/* Puts one value, or a null, at `row` of a column; 0 if there is no room. */
static inline int put(Bytes *column, int64_t row, const uint8_t *data, int64_t size) {
    if (!column->offsets) return 1;
    if (size < 0) {
        column->valid[row >> 3] &= (uint8_t)~(1u << (row & 7));
        column->nulls++;
        size = 0;
    }
    if (size > column->room - column->used) return 0;
    memcpy(column->data + column->used, data, (size_t)size);
    column->used += size;
    column->offsets[row + 1] = (int32_t)column->used;
    return 1;
}

static inline int field(const uint8_t **at, const uint8_t *end, const uint8_t **data, int64_t *size) {
    if (!varint(at, end, 32, size)) return 0;
    *data = *at;
    if (*size > end - *at) return 0;
    if (*size > 0) *at += *size;
    return 1;
}

static int put_headers(Columns *c, const uint8_t **at, const uint8_t *end, int64_t count, int wanted) {
    if (count < 0) return BAD_RECORD;
    for (int64_t n = 0; n < count; n++) {
        const uint8_t *key, *value;
        int64_t key_size, value_size;
        if (!field(at, end, &key, &key_size) || key_size < 0) return BAD_RECORD;
        if (!is_utf8(key, key + key_size)) return BAD_RECORD;
        if (!field(at, end, &value, &value_size)) return BAD_RECORD;
        if (!wanted) continue;
        if (c->headers >= c->headers_max) return NO_ROOM;
        if (!put(&c->header_key, c->headers, key, key_size)) return NO_ROOM;
        if (!put(&c->header_value, c->headers, value, value_size)) return NO_ROOM;
        c->headers++;
    }
    return OK;
}

typedef struct {
    const uint8_t *key, *value, *stop; /* where it stops is where its headers do */
    int64_t timestamp, delta, key_size, value_size, header_count;
} Record;

/* Reads the record at `at`, up to its headers, which follows one with the delta `previous`. */
static inline int next_record(const Batch *b, const uint8_t **at, const uint8_t *end,
                              int64_t previous, Record *r) {
    int64_t length;
    if (!varint(at, end, 32, &length) || length < 1 || length > end - *at) return 0;
    const uint8_t *stop = r->stop = *at + length;
    (*at)++; /* Attributes: no bit of them means anything. */
    if (!varint(at, stop, 64, &r->timestamp)) return 0;
    if (b->attributes & APPEND_TIME_BIT) r->timestamp = b->max_timestamp;
    else if (__builtin_add_overflow(b->base_timestamp, r->timestamp, &r->timestamp)) return 0;
    if (!varint(at, stop, 32, &r->delta)) return 0;
    if (r->delta <= previous || r->delta > b->last_offset_delta) return 0;
    if (!field(at, stop, &r->key, &r->key_size)) return 0;
    if (!field(at, stop, &r->value, &r->value_size)) return 0;
    return varint(at, stop, 32, &r->header_count);
}

static int decode_batch(const Batch *b, Columns *c) {
    const uint8_t *at = b->records, *end = at + b->records_bytes;
    int has_append_time = (b->attributes & APPEND_TIME_BIT) != 0;
    int64_t last_offset;
    Record r = {.delta = -1};
    if (__builtin_add_overflow(b->base_offset, b->last_offset_delta, &last_offset)) return BAD_RECORD;
    for (int32_t n = 0; n < b->count; n++) {
        if (!next_record(b, &at, end, r.delta, &r)) return BAD_RECORD;
        int64_t offset = b->base_offset + r.delta, row = c->rows;
        int wanted = offset >= c->start_offset && offset < c->end_offset;
        if (wanted) {
            if (row >= c->rows_max) return NO_ROOM;
            if (c->offset) c->offset[row] = offset;
            if (c->timestamp_us && __builtin_mul_overflow(r.timestamp, 1000, c->timestamp_us + row))
                return BAD_RECORD;
            if (c->timestamp_type) c->timestamp_type[row] = has_append_time;
            if (!put(&c->key, row, r.key, r.key_size)) return NO_ROOM;
            if (!put(&c->value, row, r.value, r.value_size)) return NO_ROOM;
            c->rows++;
        }
        int wants_headers = wanted && c->headers_offsets;
        int why = put_headers(c, &at, r.stop, r.header_count, wants_headers);
        if (why) return why;
        if (wants_headers) {
            if (!r.header_count) {
                c->headers_valid[row >> 3] &= (uint8_t)~(1u << (row & 7));
                c->headers_nulls++;
            }
            c->headers_offsets[row + 1] = (int32_t)c->headers;
        }
        if (at != r.stop) return BAD_RECORD;
    }
    return at == end ? OK : BAD_RECORD;
}

/* Adds the rows of `count` batches to `columns`. Gives the first reason to stop, and in `done` how
 * many batches were taken whole. Batches with markers of transactions have no rows. */
API int riverlog_decode(const Batch *batches, int64_t count, Columns *columns, int64_t *done) {
    int why = OK;
    int64_t n = 0;
    for (; n < count && !why; n++)
        if (!(batches[n].attributes & CONTROL_BIT)) why = decode_batch(batches + n, columns);
    *done = why ? n - 1 : n;
    return why;
}

/* The positions, at most `max`, of the records of a batch that have no key: how many in `found`.
 * All records are read, whatever is found, and whoever waits for this processor goes first. */
API int riverlog_keyless(const Batch *b, int32_t *positions, int64_t max, int64_t *found) {
    const uint8_t *at = b->records, *end = at + b->records_bytes;
    Record r = {.delta = -1};
    *found = 0;
    for (int32_t n = 0; n < b->count; n++) {
        if (n % RECORDS_AT_A_TIME == RECORDS_AT_A_TIME - 1) sched_yield();
        if (!next_record(b, &at, end, r.delta, &r)) return BAD_RECORD;
        if (r.key_size < 0 && *found < max) positions[(*found)++] = n;
        if (put_headers(0, &at, r.stop, r.header_count, 0) || at != r.stop) return BAD_RECORD;
    }
    return at == end ? OK : BAD_RECORD;
}
