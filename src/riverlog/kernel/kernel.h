/* What the files of the kernel share. */
#ifndef RIVERLOG_KERNEL_H
#define RIVERLOG_KERNEL_H
#include <stdint.h>
#include <string.h>

#define API __attribute__((visibility("default")))

/* The header of a record batch: where its parts stand, and the bits of its attributes. */
enum { HEADER_BYTES = 61, LENGTH_END = 12, LENGTH_MIN = 49, CRC_AT = 17, CRC_END = 21 };
enum { CODEC_BITS = 7, APPEND_TIME_BIT = 8, CONTROL_BIT = 32, CODEC_MAX = 4 };

static inline uint32_t be32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline int64_t be64(const uint8_t *p) {
    return (int64_t)((uint64_t)be32(p) << 32 | be32(p + 4));
}

API uint32_t riverlog_crc32c(const uint8_t *data, int64_t size);

#endif
