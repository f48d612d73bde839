/* Redis: XADD answers with an id, XREAD with one stream and its entries. The question of a
 * consumer ends where the id goes after which it wants to read. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUESTION_BYTES_MAX 1024

/* The size of a line with its end, or 0. */
static size_t line(const char *bytes, size_t size) {
    const char *end = memchr(bytes, '\n', size);
    return end ? (size_t)(end - bytes) + 1 : 0;
}

/* The size of `$LENGTH` and that many bytes, or 0; *text is where those begin. */
static size_t bulk(const char *bytes, size_t size, const char **text, size_t *length) {
    size_t head = line(bytes, size);
    if (!head) return 0;
    if (bytes[0] != '$') fail("a reply is not what was asked for");
    *length = strtoul(bytes + 1, NULL, 10);
    *text = bytes + head;
    size_t whole = head + *length + 2;
    return size < whole ? 0 : whole;
}

/* `*1 *2 $stream *N`, which comes before N entries. */
static size_t stream_head(struct connection *connection, const char *bytes, size_t size) {
    size_t at = 0, part, length;
    const char *text;
    for (int i = 0; i < 2; i++, at += part) {
        if (at >= size || !(part = line(bytes + at, size - at))) return 0;
        if (bytes[at] != '*' || bytes[at + 1] == '-') fail("a read came back empty");
    }
    if (at >= size || !(part = bulk(bytes + at, size - at, &text, &length))) return 0;
    at += part;
    if (at >= size || !(part = line(bytes + at, size - at))) return 0;
    connection->entries_left = strtoull(bytes + at + 1, NULL, 10);
    if (!connection->entries_left) fail("a read came back empty");
    return at + part;
}

/* `*2 $id *2 $field $value`. */
static size_t entry(struct connection *connection, const char *bytes, size_t size) {
    size_t at = 0, part, id_length, length;
    const char *id, *text;
    if (!(part = line(bytes, size))) return 0;
    at += part;
    if (at >= size || !(part = bulk(bytes + at, size - at, &id, &id_length))) return 0;
    at += part;
    if (at >= size || !(part = line(bytes + at, size - at))) return 0;
    at += part;
    for (int i = 0; i < 2; i++, at += part)
        if (at >= size || !(part = bulk(bytes + at, size - at, &text, &length))) return 0;
    connection->delivered++;
    if (--connection->entries_left == 0) {
        /* The question came with the id to begin from; this one takes its place. */
        char question[QUESTION_BYTES_MAX];
        size_t kept = (size_t)settings.offset_at, room = sizeof question - kept;
        if (kept > sizeof question || id_length + 16 > room) fail("a question is too long");
        memcpy(question, settings.ask.data, kept);
        int added = snprintf(question + kept, room, "$%zu\r\n%.*s\r\n", id_length, (int)id_length,
                             id);
        say(connection, question, kept + (size_t)added);
    }
    return at;
}

static size_t take(struct connection *connection, const char *bytes, size_t size,
                   struct found *found) {
    if (connection->entries_left) return entry(connection, bytes, size);
    size_t head = line(bytes, size);
    if (head && bytes[0] == '-') {
        fprintf(stderr, "%.*s", (int)head, bytes);
        if (connection->role == CONSUMER) fail("a read was refused");
        found->refused++;
        return head;
    }
    if (connection->role == CONSUMER) return stream_head(connection, bytes, size);
    const char *id;
    size_t id_length, whole = bulk(bytes, size, &id, &id_length);
    if (whole) found->acked++;
    return whole;
}

const struct protocol RESP = {"resp", 0, take};
