/* The express lane: what its files share. kafka/express.py tells what it is for. */
#ifndef RIVERLOG_EXPRESS_H
#define RIVERLOG_EXPRESS_H
#include "kernel.h"

enum { EVENTS_MAX = 256, FRAME_BYTES_MAX = 32 * 1024, READ_BYTES = 64 * 1024 };
enum { PREFIX = 4, START = 12 }; /* a frame's length; that, its API, version and correlation id */
enum { NONE = -1, ACKS_ALL = -1, ACKS_LEADER = 1, NO_TIME = -1 };

typedef struct {
    uint8_t *header, *rest; /* what all its request headers say; an unfinished request */
    int32_t header_bytes, rest_bytes, version;
    int32_t first, last, pending; /* its requests under way, in order */
    int32_t next_free;
    int fd;
    uint8_t is_leaving, is_touched, has_asked;
} Client;

typedef struct {
    uint8_t *topic, *head, *tail; /* its name or id; a reply before and behind the offsets */
    int32_t topic_bytes, head_bytes, tail_bytes, offsets;
    int32_t index, version, partition;
    uint32_t hash;
} Place;

typedef struct {
    const uint8_t *batch; /* in what was read in this turn */
    uint8_t *reply;       /* if it is other than the place's own */
    int64_t base_offset, log_start, frame_at;
    int32_t frame_bytes, batch_bytes, records, reply_bytes;
    int32_t client, place, correlation, acks;
    int32_t next_of_client, next_of_group;
    uint8_t references, is_ready; /* one reference of its client's, one of its group's */
} Request;

/* What a turn has for one partition. `waiting` is how many want it durable; times are -1 without. */
typedef struct {
    int64_t partition, first, last, count, waiting, bytes, records;
    int64_t time_min, time_max, batch_bytes_max, has_producers;
} Group;

/* Bytes for Python: what a client sent that is not for us, or replies that could not be sent. */
typedef struct {
    int64_t client, at, bytes, is_drained;
} Back;

typedef struct {
    int poll;
    int32_t clients_max, client_count, free_client;
    int32_t places_max, place_count;
    int32_t requests_max, request_count, free_request, requests_of_client_max;
    int32_t touched_count;
    Client *clients;
    Place *places;
    Request *requests;
    int32_t *table, *group_of, *touched;
    uint8_t *out;
    int64_t out_bytes, out_room, rest_bytes;
} Express;

/* A message of the common kind, as it stands in a frame. */
typedef struct {
    const uint8_t *topic, *batch;
    int32_t topic_bytes, index, acks;
    int64_t batch_bytes;
} Common;

static inline void put32(uint8_t *p, uint32_t value) {
    for (int n = 0; n < 4; n++) p[n] = (uint8_t)(value >> (24 - 8 * n));
}

static inline void put64(uint8_t *p, int64_t value) {
    put32(p, (uint32_t)((uint64_t)value >> 32));
    put32(p + 4, (uint32_t)value);
}

static inline int be16(const uint8_t *p) { return (int16_t)((uint16_t)p[0] << 8 | p[1]); }

/* Reads a Produce message; 0 when it is not of the common kind, or its batch not sound. */
int riverlog_read_common(const uint8_t *p, const uint8_t *end, int version, Common *common);

/* Reads no more from a client: replies come back from `flush` from now on. */
void riverlog_stop_reading(Express *x, Client *c);

/* Gives up one of the references to a request. */
void riverlog_let_go(Express *x, int32_t request);

#endif
