/* NATS with JetStream: lines, and behind some of them a payload. Acks arrive as messages of
 * subscription 1, deliveries as those of subscription 2; a greeting ends with PING. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACKS '1'

static int begins(const char *bytes, const char *word) {
    return !strncmp(bytes, word, strlen(word));
}

/* A message's line is at hand; its payload perhaps not yet. */
static size_t message(struct connection *connection, const char *bytes, size_t size, size_t head,
                      struct found *found) {
    const char *sid = memchr(bytes, ' ', head); /* MSG SUBJECT SID [REPLY] SIZE */
    sid = sid ? memchr(sid + 1, ' ', head - (size_t)(sid + 1 - bytes)) : NULL;
    if (!sid) fail("a message has no subscription");
    const char *last = bytes + head - 2;
    while (last > sid && last[-1] != ' ') last--;
    size_t payload = strtoul(last, NULL, 10), whole = head + payload + 2;
    if (size < whole) return 0;
    if (sid[1] != ACKS) {
        connection->delivered++;
        return whole;
    }
    /* An ack is {"stream":..., "seq":...}; a refusal has an error first, or headers. */
    const char *body = bytes + head;
    int is_refusal = bytes[0] == 'H' || payload < 9 || !memcmp(body, "{\"error\"", 8);
    if (is_refusal) fprintf(stderr, "%.*s\n", (int)payload, body);
    if (is_refusal) found->refused++;
    else found->acked++;
    return whole;
}

static size_t take(struct connection *connection, const char *bytes, size_t size,
                   struct found *found) {
    const char *end = memchr(bytes, '\n', size);
    if (!end) return 0;
    size_t head = (size_t)(end - bytes) + 1;
    if (begins(bytes, "MSG ") || begins(bytes, "HMSG "))
        return message(connection, bytes, size, head, found);
    if (begins(bytes, "PING")) say(connection, "PONG\r\n", 6);
    else if (begins(bytes, "PONG")) connection->is_ready = 1;
    else if (begins(bytes, "-ERR")) {
        fprintf(stderr, "%.*s", (int)head, bytes);
        fail("the server refused");
    }
    return head;
}

const struct protocol NATS = {"nats", 1, take};
