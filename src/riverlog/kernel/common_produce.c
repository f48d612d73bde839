/* The common Produce request: one topic, one partition, one sound batch, no transaction. */
#include "express.h"

enum { VERSION_MIN = 3, ZSTD_FROM = 7, FLEXIBLE_FROM = 9, TOPIC_IDS_FROM = 13 };
enum { ZSTD = 4, NAME_BYTES_MAX = 249, TOPIC_ID_BYTES = 16 };

/* Reads a message that begins at `p`; 0 when it is not of the common kind. */
static int read_flexible(const uint8_t *p, const uint8_t *end, int version, Common *c) {
    if (end - p < 9 || p[0] || p[7] != 2) return 0;
    c->acks = be16(p + 1);
    p += 8;
    c->topic_bytes = version >= TOPIC_IDS_FROM ? TOPIC_ID_BYTES : *p++ - 1;
    if (c->topic_bytes < 1 || c->topic_bytes > 126 || end - p < c->topic_bytes + 6) return 0;
    c->topic = p;
    p += c->topic_bytes;
    if (p[0] != 2) return 0;
    c->index = (int32_t)be32(p + 1);
    p += 5;
    uint64_t size = 0;
    for (int n = 0; ; n++) {
        if (n == 3 || p == end) return 0;
        size |= (uint64_t)(*p & 127) << (7 * n);
        if (*p++ < 128) break;
    }
    c->batch = p;
    c->batch_bytes = (int64_t)size - 1;
    /* Three sections of tagged fields follow, all of them empty. */
    return end - p == c->batch_bytes + 3 && !end[-1] && !end[-2] && !end[-3];
}

static int read_plain(const uint8_t *p, const uint8_t *end, Common *c) {
    if (end - p < 14 || be16(p) != -1 || be32(p + 8) != 1) return 0;
    c->acks = be16(p + 2);
    c->topic_bytes = be16(p + 12);
    p += 14;
    if (c->topic_bytes < 1 || c->topic_bytes > NAME_BYTES_MAX || end - p < c->topic_bytes + 12) return 0;
    c->topic = p;
    p += c->topic_bytes;
    if (be32(p) != 1) return 0;
    c->index = (int32_t)be32(p + 4);
    c->batch_bytes = (int32_t)be32(p + 8);
    c->batch = p + 12;
    return end - c->batch == c->batch_bytes;
}

/* Whether it is one batch that any producer may send: `check_produced` and `admit` in short. */
static int is_sound(const uint8_t *b, int64_t bytes, int version) {
    if (bytes < HEADER_BYTES || be64(b) || (int32_t)be32(b + 8) != bytes - LENGTH_END) return 0;
    int attributes = be16(b + 21), codec = attributes & CODEC_BITS;
    if (b[16] != 2 || attributes & ~CODEC_BITS || codec > CODEC_MAX) return 0;
    if (codec == ZSTD && version < ZSTD_FROM) return 0;
    int64_t records = (int32_t)be32(b + 57);
    if (records < 1 || (int32_t)be32(b + 23) != records - 1) return 0;
    if (be64(b + 43) >= 0 && (int32_t)be32(b + 53) < 0) return 0;
    return riverlog_crc32c(b + CRC_END, bytes - CRC_END) == be32(b + CRC_AT);
}

int riverlog_read_common(const uint8_t *p, const uint8_t *end, int version, Common *common) {
    if (version < VERSION_MIN) return 0;
    if (!(version >= FLEXIBLE_FROM ? read_flexible(p, end, version, common)
                                   : read_plain(p, end, common))) return 0;
    if (common->acks != ACKS_ALL && common->acks != ACKS_LEADER) return 0;
    return is_sound(common->batch, common->batch_bytes, version);
}
