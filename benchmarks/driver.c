/* Publishers in a closed loop: each connection has one request under way, and sends the next when
 * its reply has come. The same loop drives servers that answer in Kafka frames and in RESP.
 *
 *   driver PORT kafka|resp CONNECTIONS WARM_UP_S SECONDS COUNT ERROR_AT FRAMES
 *
 * FRAMES is a file of ready-made requests, each behind its length (32 bits, this machine's order).
 * Connection i begins with request i and steps on by CONNECTIONS, round and round. With COUNT > 0
 * it sends so many and measures all of them; otherwise it runs for WARM_UP_S + SECONDS, measures
 * the last SECONDS, and then waits for what is still under way. ERROR_AT is where a Kafka reply,
 * behind its length prefix, has an error code that must be 0.
 *
 * Prints one line of JSON. Ends with 1 when a connection is lost or a reply takes too long.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REPLY_MS_MAX 30000
#define REPLY_BYTES_MAX 4096
#define EVENTS_MAX 256

struct request {
    const char *bytes;
    uint32_t size;
};

struct connection {
    int fd;
    size_t next;
    uint64_t sent_ns;
    size_t received;
    char reply[REPLY_BYTES_MAX];
};

static struct request *requests;
static size_t request_count;
static uint32_t *latencies_ns;
static size_t latency_count, latency_room;

static void fail(const char *what) {
    fprintf(stderr, "driver: %s (%s)\n", what, strerror(errno));
    exit(1);
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void load_requests(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail("no file of requests");
    uint32_t size;
    size_t room = 0;
    while (fread(&size, sizeof size, 1, file) == 1) {
        if (request_count == room) {
            room = room ? 2 * room : 64;
            requests = realloc(requests, room * sizeof *requests);
        }
        char *bytes = malloc(size);
        if (!requests || !bytes || fread(bytes, 1, size, file) != size) fail("a request is cut");
        requests[request_count++] = (struct request){bytes, size};
    }
    fclose(file);
    if (!request_count) fail("there are no requests");
}

static int connected(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) fail("cannot connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

/* The size of the first whole reply in `bytes`, or 0; *is_error is set when it is a refusal. */
static size_t kafka_reply(const char *bytes, size_t size, long error_at, int *is_error) {
    if (size < 4) return 0;
    uint32_t length;
    memcpy(&length, bytes, 4);
    length = ntohl(length);
    if (length > REPLY_BYTES_MAX - 4) fail("a reply is too long");
    if (size < 4 + (size_t)length) return 0;
    if (error_at + 2 > (long)length) fail("a reply is too short");
    *is_error = bytes[4 + error_at] != 0 || bytes[5 + error_at] != 0;
    return 4 + (size_t)length;
}

static size_t resp_reply(const char *bytes, size_t size, int *is_error) {
    const char *end = memchr(bytes, '\n', size);
    if (!end) return 0;
    size_t line = (size_t)(end - bytes) + 1;
    *is_error = bytes[0] == '-';
    if (bytes[0] != '$') return line;
    long length = strtol(bytes + 1, NULL, 10);
    if (length < 0) {
        *is_error = 1;
        return line;
    }
    if (length > REPLY_BYTES_MAX - 64) fail("a reply is too long");
    size_t whole = line + (size_t)length + 2;
    return size < whole ? 0 : whole;
}

static void send_next(struct connection *connection, size_t step) {
    const struct request *request = &requests[connection->next];
    connection->next = (connection->next + step) % request_count;
    connection->sent_ns = now_ns();
    for (size_t done = 0; done < request->size;) {
        ssize_t sent = send(connection->fd, request->bytes + done, request->size - done,
                            MSG_NOSIGNAL);
        if (sent <= 0) fail("a connection is lost");
        done += (size_t)sent;
    }
}

static void note_latency(uint64_t ns) {
    if (latency_count == latency_room) {
        latency_room = latency_room ? 2 * latency_room : 1 << 16;
        latencies_ns = realloc(latencies_ns, latency_room * sizeof *latencies_ns);
        if (!latencies_ns) fail("no memory");
    }
    latencies_ns[latency_count++] = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

static int by_size(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static double percentile_us(double share) {
    if (!latency_count) return 0;
    return latencies_ns[(size_t)(share * (double)(latency_count - 1))] / 1000.0;
}

int main(int argument_count, char **arguments) {
    if (argument_count != 9) {
        fprintf(stderr, "see the head of driver.c\n");
        return 2;
    }
    int port = atoi(arguments[1]), is_kafka = !strcmp(arguments[2], "kafka");
    size_t connection_count = (size_t)atol(arguments[3]);
    double warm_up_s = atof(arguments[4]), measured_s = atof(arguments[5]);
    uint64_t count = strtoull(arguments[6], NULL, 10);
    long error_at = atol(arguments[7]);
    load_requests(arguments[8]);

    int poller = epoll_create1(0);
    struct connection *connections = calloc(connection_count, sizeof *connections);
    if (poller < 0 || !connections) fail("cannot begin");
    for (size_t i = 0; i < connection_count; i++) {
        connections[i].fd = connected(port);
        connections[i].next = i % request_count;
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};
        if (epoll_ctl(poller, EPOLL_CTL_ADD, connections[i].fd, &event)) fail("cannot poll");
    }

    uint64_t sent = 0, acked = 0, refused = 0, begun_ns = now_ns();
    uint64_t from_ns = begun_ns + (count ? 0 : (uint64_t)(warm_up_s * 1e9));
    uint64_t until_ns = count ? UINT64_MAX : from_ns + (uint64_t)(measured_s * 1e9);
    for (size_t i = 0; i < connection_count && (!count || sent < count); i++, sent++)
        send_next(&connections[i], connection_count);

    struct epoll_event events[EVENTS_MAX];
    uint64_t now = begun_ns;
    while (acked + refused < sent) {
        int ready = epoll_wait(poller, events, EVENTS_MAX, REPLY_MS_MAX);
        if (ready <= 0) fail("no reply came in time");
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            ssize_t got = recv(connection->fd, connection->reply + connection->received,
                               REPLY_BYTES_MAX - connection->received, MSG_DONTWAIT);
            if (got < 0 && errno == EAGAIN) continue;
            if (got <= 0) fail("a connection is lost");
            connection->received += (size_t)got;
            int is_error = 0;
            const char *reply = connection->reply;
            size_t size = is_kafka ? kafka_reply(reply, connection->received, error_at, &is_error)
                                   : resp_reply(reply, connection->received, &is_error);
            if (!size) continue;
            if (size != connection->received) fail("more came than was asked for");
            connection->received = 0;
            now = now_ns();
            if (is_error) refused++; else acked++;
            if (now >= from_ns && now < until_ns) note_latency(now - connection->sent_ns);
            if (count ? sent < count : now < until_ns) {
                send_next(connection, connection_count);
                sent++;
            }
        }
    }

    double seconds = count ? (double)(now - begun_ns) / 1e9 : measured_s;
    qsort(latencies_ns, latency_count, sizeof *latencies_ns, by_size);
    printf("{\"sent\": %llu, \"acked\": %llu, \"refused\": %llu, \"measured\": %zu, "
           "\"seconds\": %.6f, \"p50_us\": %.1f, \"p99_us\": %.1f}\n",
           (unsigned long long)sent, (unsigned long long)acked, (unsigned long long)refused,
           latency_count, seconds, percentile_us(0.50), percentile_us(0.99));
    return 0;
}
