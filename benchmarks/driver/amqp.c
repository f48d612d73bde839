/* AMQP 0-9-1 with publisher confirms, on channel 1. The whole greeting goes out at once; its last
 * method is the one whose answer makes a connection ready. */
#include "driver.h"

#include <stdio.h>
#include <string.h>

enum { METHOD = 1, BODY = 3, HEAD_BYTES = 7, END_BYTES = 1 };

#define METHOD_OF(class, method) ((uint32_t)(class) << 16 | (method))
#define CONNECTION_CLOSE METHOD_OF(10, 50)
#define CHANNEL_CLOSE METHOD_OF(20, 40)
#define CONSUME_OK METHOD_OF(60, 21)
#define RETURNED METHOD_OF(60, 50)
#define ACK METHOD_OF(60, 80)
#define NACK METHOD_OF(60, 120)
#define SELECT_OK METHOD_OF(85, 11)

/* Confirms come one by one in any order, or all up to a number: each counts once. */
static void confirm(struct connection *connection, const char *arguments, uint64_t *counted) {
    uint64_t tag = big_endian_64(arguments);
    unsigned char *is_confirmed = connection->confirmations;
    if (tag <= connection->confirmed) return;
    if (tag - connection->confirmed > settings.window) fail("more was confirmed than was sent");
    for (uint64_t one = arguments[8] & 1 ? connection->confirmed + 1 : tag; one <= tag; one++) {
        *counted += !is_confirmed[one % settings.window];
        is_confirmed[one % settings.window] = 1;
    }
    while (is_confirmed[(connection->confirmed + 1) % settings.window])
        is_confirmed[++connection->confirmed % settings.window] = 0;
}

static void take_method(struct connection *connection, const char *payload, size_t size,
                        struct found *found) {
    switch (big_endian_32(payload)) {
    case ACK:
        confirm(connection, payload + 4, &found->acked);
        break;
    case NACK:
        confirm(connection, payload + 4, &found->refused);
        break;
    case SELECT_OK:
        connection->is_ready |= connection->role == PUBLISHER;
        break;
    case CONSUME_OK:
        connection->is_ready |= connection->role == CONSUMER;
        break;
    case CONNECTION_CLOSE:
    case CHANNEL_CLOSE:
    case RETURNED:
        fprintf(stderr, "%.*s\n", (int)(size - 7), payload + 7);
        fail("the server refused");
    }
}

/* Messages of the sizes we send come in one body frame each. */
static void take_delivery(struct connection *connection) {
    connection->delivered++;
    if (!settings.ack_every || connection->delivered % settings.ack_every) return;
    char ack[] = "\1\0\1\0\0\0\15\0\74\0\120........\1\316";
    put_big_endian_64(ack + HEAD_BYTES + 4, connection->delivered);
    say(connection, ack, sizeof ack - 1);
}

static size_t take(struct connection *connection, const char *bytes, size_t size,
                   struct found *found) {
    if (size < HEAD_BYTES) return 0;
    size_t payload = big_endian_32(bytes + 3), whole = HEAD_BYTES + payload + END_BYTES;
    if (size < whole) return 0;
    if (bytes[0] == METHOD) take_method(connection, bytes + HEAD_BYTES, payload, found);
    else if (bytes[0] == BODY) take_delivery(connection);
    return whole;
}

const struct protocol AMQP = {"amqp", 1, take};
