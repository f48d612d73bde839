/* Sockets that never block: what goes out waits its turn, what comes in is cut into units. */
#include "driver.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define READY_MS_MAX 30000
#define AT_ONCE_MAX 256
#define RECEIVED_ROOM_PUBLISHER (256 << 10)
#define RECEIVED_ROOM_CONSUMER (4 << 20)

struct connection *connected(enum role role, struct bytes hello) {
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) fail("no memory");
    connection->role = role;
    connection->received_room =
        role == CONSUMER ? RECEIVED_ROOM_CONSUMER : RECEIVED_ROOM_PUBLISHER;
    connection->received = malloc(connection->received_room);
    connection->sent_ns = malloc(settings.window * sizeof *connection->sent_ns);
    connection->confirmations = calloc(1, settings.window);
    if (!connection->received || !connection->sent_ns || !connection->confirmations)
        fail("no memory");

    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)settings.port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) fail("cannot connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (fcntl(fd, F_SETFL, O_NONBLOCK)) fail("cannot set up a socket");
    connection->fd = fd;

    say(connection, hello.data, hello.size);
    connection->is_ready = !settings.protocol->answers_hello || !hello.size;
    uint64_t deadline_ns = now_ns() + READY_MS_MAX * 1000000ull;
    struct found found = {0};
    while (!connection->is_ready) {
        struct pollfd waiting = {fd, POLLIN, 0};
        if (poll(&waiting, 1, 100) > 0) flow_in(connection, &found);
        flush_out(connection);
        if (now_ns() > deadline_ns) fail("a greeting was not answered");
    }
    return connection;
}

void say(struct connection *connection, const char *bytes, size_t size) {
    if (!size) return;
    if (connection->said_begin == connection->said_end)
        connection->said_begin = connection->said_end = 0;
    if (connection->said_end + size > connection->said_room) {
        connection->said_room = 2 * (connection->said_end + size);
        connection->said = realloc(connection->said, connection->said_room);
        if (!connection->said) fail("no memory");
    }
    memcpy(connection->said + connection->said_end, bytes, size);
    connection->said_end += size;
    flush_out(connection);
}

void queue_requests(struct connection *connection, uint64_t count) {
    connection->queued += count;
    flush_out(connection);
}

int wants_to_write(const struct connection *connection) {
    return connection->queued || connection->said_begin < connection->said_end;
}

static ssize_t went_out(ssize_t sent) {
    if (sent >= 0) return sent;
    if (errno != EAGAIN && errno != EINTR) fail("a connection is lost");
    return -1;
}

static int flush_said(struct connection *connection) {
    while (connection->said_begin < connection->said_end) {
        ssize_t sent = went_out(send(connection->fd, connection->said + connection->said_begin,
                                     connection->said_end - connection->said_begin,
                                     MSG_NOSIGNAL));
        if (sent < 0) return 0;
        connection->said_begin += (size_t)sent;
    }
    return 1;
}

/* A request is in flight from the moment its first byte may go. */
static void begin_request(struct connection *connection, uint64_t at_ns) {
    connection->sent_ns[connection->sent_count++ % settings.window] = at_ns;
    connection->in_flight++;
}

static void flush_requests(struct connection *connection) {
    while (connection->queued) {
        struct iovec parts[AT_ONCE_MAX];
        size_t count = connection->queued < AT_ONCE_MAX ? (size_t)connection->queued : AT_ONCE_MAX;
        size_t next = connection->next;
        for (size_t i = 0; i < count; i++) {
            struct bytes request = settings.requests.items[next];
            size_t done = i ? 0 : connection->next_done;
            parts[i] = (struct iovec){request.data + done, request.size - done};
            next = (next + settings.connections) % settings.requests.count;
        }
        uint64_t at_ns = now_ns();
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
        ssize_t sent = went_out(sendmsg(connection->fd, &message, MSG_NOSIGNAL));
        if (sent < 0) return;
        for (size_t left = (size_t)sent; left;) {
            size_t rest = settings.requests.items[connection->next].size - connection->next_done;
            if (!connection->next_done) begin_request(connection, at_ns);
            if (left < rest) {
                connection->next_done += left;
                return;
            }
            left -= rest;
            connection->next_done = 0;
            connection->next = (connection->next + settings.connections) % settings.requests.count;
            connection->queued--;
        }
    }
}

void flush_out(struct connection *connection) {
    /* Nothing may come between the halves of a request. */
    if (connection->next_done) flush_requests(connection);
    if (!connection->next_done && flush_said(connection)) flush_requests(connection);
}

uint64_t answered(struct connection *connection) {
    if (!connection->in_flight) fail("more was answered than was asked");
    connection->in_flight--;
    return connection->sent_ns[connection->answered_count++ % settings.window];
}

void flow_in(struct connection *connection, struct found *found) {
    size_t begin = connection->received_begin, end = connection->received_end;
    if (begin == end) {
        begin = end = 0;
    } else if (end == connection->received_room) {
        memmove(connection->received, connection->received + begin, end - begin);
        end -= begin;
        begin = 0;
    }
    if (end == connection->received_room) {
        connection->received_room *= 2;
        connection->received = realloc(connection->received, connection->received_room);
        if (!connection->received) fail("no memory");
    }
    ssize_t got = recv(connection->fd, connection->received + end,
                       connection->received_room - end, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) got = 0;
    else if (got <= 0) fail("a connection is lost");
    end += (size_t)got;
    for (size_t size; begin < end; begin += size) {
        size = settings.protocol->take(connection, connection->received + begin, end - begin,
                                       found);
        if (!size) break;
    }
    connection->received_begin = begin;
    connection->received_end = end;
}
