/* Loads a server at the speed of C. One loop speaks to all of them: Kafka frames, RESP, NATS and
 * AMQP 0-9-1 differ only in how the first whole answer is cut from what has come.
 *
 *   driver MODE protocol=kafka|resp|nats|amqp port=N [NAME=VALUE ...]
 *
 * publish: `connections` publishers with `window` requests in flight on each. With count > 0 they
 *   send so many and all are measured; otherwise they run for warm_up_s + seconds, the last
 *   `seconds` are measured, and what is still under way then is waited for.
 * consume: one consumer reads `count` messages as fast as they come.
 * latency: one publisher sends `rate_per_s` for `seconds`, whatever comes back, and one consumer
 *   notes how long each took to arrive. Every ack must come, too.
 *
 * frames=FILE holds ready-made requests, each behind its length (32 bits, this machine's order);
 * connection i begins with request i and steps on by `connections`, round and round. hellos=FILE
 * has what publishers say first, in the same form, in turn; listener_hello=FILE is what a consumer
 * does, and ask=FILE the question that it repeats, in protocols where it has to ask.
 *
 * Prints one line of JSON. Ends with 1 when a connection is lost or an answer takes too long.
 */
#include "driver.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct settings settings = {.connections = 1, .window = 1};

void fail(const char *what) {
    fprintf(stderr, "driver: %s (%s)\n", what, strerror(errno));
    exit(1);
}

uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint32_t big_endian_32(const char *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return ntohl(value);
}

uint64_t big_endian_64(const char *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return be64toh(value);
}

void put_big_endian_64(char *at, uint64_t value) {
    value = htobe64(value);
    memcpy(at, &value, sizeof value);
}

static struct bytes contents(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) fail(path);
    struct bytes found = {.size = (size_t)ftell(file)};
    rewind(file);
    found.data = malloc(found.size + 1);
    if (!found.data || fread(found.data, 1, found.size, file) != found.size) fail(path);
    fclose(file);
    return found;
}

static struct list pieces(const char *path) {
    struct bytes file = contents(path);
    struct list found = {0};
    uint32_t size;
    for (size_t at = 0, room = 0; at + sizeof size <= file.size; at += size) {
        memcpy(&size, file.data + at, sizeof size);
        at += sizeof size;
        if (size > file.size - at) fail("a piece of a file is cut");
        if (found.count == room) {
            room = room ? 2 * room : 64;
            found.items = realloc(found.items, room * sizeof *found.items);
            if (!found.items) fail("no memory");
        }
        found.items[found.count++] = (struct bytes){file.data + at, size};
    }
    return found;
}

static const struct protocol *protocol_named(const char *name) {
    const struct protocol *known[] = {&KAFKA, &RESP, &NATS, &AMQP};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i]->name, name)) return known[i];
    fail("no such protocol");
}

static void set(const char *name, const char *value) {
    if (!strcmp(name, "protocol")) settings.protocol = protocol_named(value);
    else if (!strcmp(name, "port")) settings.port = atoi(value);
    else if (!strcmp(name, "connections")) settings.connections = strtoul(value, NULL, 10);
    else if (!strcmp(name, "window")) settings.window = strtoull(value, NULL, 10);
    else if (!strcmp(name, "count")) settings.count = strtoull(value, NULL, 10);
    else if (!strcmp(name, "warm_up_s")) settings.warm_up_s = atof(value);
    else if (!strcmp(name, "seconds")) settings.seconds = atof(value);
    else if (!strcmp(name, "rate_per_s")) settings.rate_per_s = atof(value);
    else if (!strcmp(name, "error_at")) settings.error_at = atol(value);
    else if (!strcmp(name, "offset_at")) settings.offset_at = atol(value);
    else if (!strcmp(name, "ack_every")) settings.ack_every = strtoull(value, NULL, 10);
    else if (!strcmp(name, "hellos")) settings.hellos = pieces(value);
    else if (!strcmp(name, "listener_hello")) settings.listener_hello = contents(value);
    else if (!strcmp(name, "ask")) settings.ask = contents(value);
    else if (!strcmp(name, "frames")) settings.requests = pieces(value);
    else fail(name);
}

int main(int argument_count, char **arguments) {
    for (int i = 2; i < argument_count; i++) {
        char *equals = strchr(arguments[i], '=');
        if (!equals) fail(arguments[i]);
        *equals = 0;
        set(arguments[i], equals + 1);
    }
    if (argument_count < 2 || !settings.protocol || !settings.connections || !settings.window)
        fail("see the head of main.c");
    const char *mode = arguments[1];
    if (!strcmp(mode, "publish")) publish();
    else if (!strcmp(mode, "consume")) consume();
    else if (!strcmp(mode, "latency")) latency();
    else fail("no such mode");
    return 0;
}
