/* What the parts of the driver share. main.c says what it does and how it is run. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stddef.h>
#include <stdint.h>

struct bytes {
    char *data;
    size_t size;
};

struct list {
    struct bytes *items;
    size_t count;
};

/* What a connection is for. */
enum role { PUBLISHER, CONSUMER };

/* Requests that were answered, with success or without. */
struct found {
    uint64_t acked, refused;
};

struct connection {
    int fd;
    enum role role;
    int is_ready; /* its greeting has been answered */

    char *received;
    size_t received_begin, received_end, received_room;

    /* Requests that may be sent and are not yet, and how far the first of them has gone. */
    uint64_t queued;
    size_t next, next_done;
    uint64_t in_flight;
    uint64_t *sent_ns; /* when each of those in flight was sent, a ring */
    uint64_t sent_count, answered_count;

    /* What a protocol says by itself between requests: greetings, the next question, credit. */
    char *said;
    size_t said_begin, said_end, said_room;

    /* A protocol's own. */
    uint64_t entries_left, confirmed, delivered;
    unsigned char *confirmations;
};

struct protocol {
    const char *name;
    int answers_hello; /* a connection is ready only after an answer to its greeting */
    /* Takes the first whole unit of what came; gives its size, or 0 if there is none yet. */
    size_t (*take)(struct connection *, const char *bytes, size_t size, struct found *);
};

extern const struct protocol KAFKA, RESP, NATS, AMQP;

/* How the driver was called. */
struct settings {
    const struct protocol *protocol;
    int port;
    size_t connections;
    uint64_t window;   /* requests in flight on each connection */
    uint64_t count;    /* requests to publish, or messages to consume; 0: by the clock */
    double warm_up_s, seconds, rate_per_s;
    long error_at;     /* where a Kafka reply has its error code, behind its length */
    long offset_at;    /* where a Kafka question has the offset it asks for */
    uint64_t ack_every; /* of deliveries over AMQP; 0: they need none */
    struct list hellos, requests;
    struct bytes listener_hello, ask;
};
extern struct settings settings;

_Noreturn void fail(const char *what);
uint64_t now_ns(void);
uint32_t big_endian_32(const char *at);
uint64_t big_endian_64(const char *at);
void put_big_endian_64(char *at, uint64_t value);

/* connections.c */
struct connection *connected(enum role role, struct bytes hello);
void say(struct connection *, const char *bytes, size_t size);
void queue_requests(struct connection *, uint64_t count);
/* Sends what is queued, as far as the socket takes it. */
void flush_out(struct connection *);
/* Reads once what is there, and takes every whole unit of it. */
void flow_in(struct connection *, struct found *);
int wants_to_write(const struct connection *);
/* When the oldest request in flight was sent; it counts as answered from now on. */
uint64_t answered(struct connection *);

/* measures.c */
void note_latency(uint64_t ns);
size_t latencies_noted(void);
double latency_us(double share);

/* The three things to do; each prints one line of JSON. */
void publish(void);
void consume(void);
void latency(void);

#endif
