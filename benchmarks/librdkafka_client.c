/* A producer and a consumer of librdkafka at the speed of C: what loads a broker hardest with
 * batches. It declares the few functions it uses, so that the library inside the confluent-kafka
 * wheel, which comes without headers, will do.
 *
 *   librdkafka_client produce BOOTSTRAP TOPIC COUNT SIZE
 *   librdkafka_client consume BOOTSTRAP TOPIC COUNT SIZE CHECK_CRCS
 *
 * produce sends COUNT values to partition 0 with acks=all and waits until every one is
 * acknowledged. consume reads COUNT values from offset 0 on and checks offset and size of each.
 * Both connect before the clock starts. Prints one line of JSON; ends with 1 when anything fails.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

typedef struct rd_kafka_s rd_kafka_t;
typedef struct rd_kafka_topic_s rd_kafka_topic_t;
typedef struct rd_kafka_conf_s rd_kafka_conf_t;
typedef struct rd_kafka_topic_conf_s rd_kafka_topic_conf_t;
typedef struct rd_kafka_message_s {
    int err;
    rd_kafka_topic_t *topic;
    int32_t partition;
    void *payload;
    size_t len;
    void *key;
    size_t key_len;
    int64_t offset;
    void *private_;
} rd_kafka_message_t;
enum { PRODUCER = 0, CONSUMER = 1 };

rd_kafka_conf_t *rd_kafka_conf_new(void);
int rd_kafka_conf_set(rd_kafka_conf_t *, const char *, const char *, char *, size_t);
void rd_kafka_conf_set_dr_msg_cb(rd_kafka_conf_t *,
                                 void (*)(rd_kafka_t *, const rd_kafka_message_t *, void *));
rd_kafka_t *rd_kafka_new(int, rd_kafka_conf_t *, char *, size_t);
rd_kafka_topic_t *rd_kafka_topic_new(rd_kafka_t *, const char *, rd_kafka_topic_conf_t *);
int rd_kafka_produce_batch(rd_kafka_topic_t *, int32_t, int, rd_kafka_message_t *, int);
int rd_kafka_poll(rd_kafka_t *, int);
int rd_kafka_flush(rd_kafka_t *, int);
int rd_kafka_outq_len(rd_kafka_t *);
int rd_kafka_query_watermark_offsets(rd_kafka_t *, const char *, int32_t, int64_t *, int64_t *,
                                     int);
int rd_kafka_consume_start(rd_kafka_topic_t *, int32_t, int64_t);
ssize_t rd_kafka_consume_batch(rd_kafka_topic_t *, int32_t, int, rd_kafka_message_t **, size_t);
int rd_kafka_consume_stop(rd_kafka_topic_t *, int32_t);
void rd_kafka_message_destroy(rd_kafka_message_t *);

#define AT_A_TIME 10000
#define WAIT_MS_MAX 30000

static long failed;

static void fail(const char *what) {
    fprintf(stderr, "librdkafka_client: %s\n", what);
    exit(1);
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value) {
    char why[256];
    if (rd_kafka_conf_set(conf, name, value, why, sizeof why)) fail(why);
}

static rd_kafka_t *made(int kind, rd_kafka_conf_t *conf) {
    char why[256];
    rd_kafka_t *client = rd_kafka_new(kind, conf, why, sizeof why);
    if (!client) fail(why);
    return client;
}

static void delivered(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
    (void)client, (void)opaque;
    if (message->err) failed++;
}

static int64_t end_offset(rd_kafka_t *client, const char *topic) {
    int64_t low, high;
    if (rd_kafka_query_watermark_offsets(client, topic, 0, &low, &high, WAIT_MS_MAX))
        fail("the end of the partition is not known");
    return high;
}

static void enqueue(rd_kafka_t *client, rd_kafka_topic_t *topic, rd_kafka_message_t *messages,
                    long count) {
    while (count > 0) {
        int wanted = count < AT_A_TIME ? (int)count : AT_A_TIME;
        int taken = rd_kafka_produce_batch(topic, 0, 0, messages, wanted);
        count -= taken;
        /* The queue is full: wait a little until some have gone. */
        rd_kafka_poll(client, taken < wanted ? 1 : 0);
    }
}

static void flush(rd_kafka_t *client) {
    if (rd_kafka_flush(client, WAIT_MS_MAX) || rd_kafka_outq_len(client))
        fail("not all were acknowledged in time");
    if (failed) fail("some were refused");
}

static double produce(const char *bootstrap, const char *name, long count, size_t size,
                      int64_t *found) {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", bootstrap);
    set(conf, "acks", "all");
    set(conf, "linger.ms", "5");
    set(conf, "batch.size", "1000000");
    set(conf, "batch.num.messages", "1000000");
    set(conf, "queue.buffering.max.messages", "2000000");
    set(conf, "queue.buffering.max.kbytes", "1000000");
    /* Only failures are reported one by one; that the queue is empty says that none is left. */
    set(conf, "delivery.report.only.error", "true");
    rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    rd_kafka_t *client = made(PRODUCER, conf);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, name, NULL);

    char *value = malloc(size);
    rd_kafka_message_t *messages = calloc(AT_A_TIME, sizeof *messages);
    if (!value || !messages) fail("no memory");
    for (size_t i = 0; i < size; i++) value[i] = (char)('a' + i % 26);
    for (int i = 0; i < AT_A_TIME; i++)
        messages[i] = (rd_kafka_message_t){.payload = value, .len = size};
    enqueue(client, topic, messages, 1);
    flush(client);
    int64_t before = end_offset(client, name);

    double begun_s = now_s();
    enqueue(client, topic, messages, count);
    flush(client);
    double seconds = now_s() - begun_s;
    *found = end_offset(client, name) - before;
    return seconds;
}

static double consume(const char *bootstrap, const char *name, long count, size_t size,
                      const char *check_crcs, int64_t *found) {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", bootstrap);
    set(conf, "check.crcs", check_crcs);
    /* The queue never makes the fetcher pause: the broker is asked as fast as it answers. */
    set(conf, "queued.min.messages", "10000000");
    set(conf, "queued.max.messages.kbytes", "2000000");
    rd_kafka_t *client = made(CONSUMER, conf);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, name, NULL);
    if (end_offset(client, name) < count) fail("there are too few to consume");

    static rd_kafka_message_t *messages[AT_A_TIME];
    int64_t expected = 0;
    double begun_s = now_s();
    if (rd_kafka_consume_start(topic, 0, 0)) fail("cannot consume");
    while (expected < count) {
        /* It waits until it has all it is asked for: never ask for more than there is. */
        size_t wanted = count - expected < AT_A_TIME ? (size_t)(count - expected) : AT_A_TIME;
        ssize_t got = rd_kafka_consume_batch(topic, 0, WAIT_MS_MAX, messages, wanted);
        if (got <= 0) fail("nothing came in time");
        for (ssize_t i = 0; i < got; i++) {
            rd_kafka_message_t *message = messages[i];
            if (!message->err) {
                if (message->offset != expected || message->len != size)
                    fail("a message is not as it was sent");
                expected++;
            }
            rd_kafka_message_destroy(message);
        }
    }
    double seconds = now_s() - begun_s;
    rd_kafka_consume_stop(topic, 0);
    *found = expected;
    return seconds;
}

int main(int argument_count, char **arguments) {
    int is_producer = argument_count == 6 && !strcmp(arguments[1], "produce");
    if (!is_producer && argument_count != 7) {
        fprintf(stderr, "see the head of librdkafka_client.c\n");
        return 2;
    }
    const char *bootstrap = arguments[2], *topic = arguments[3];
    long count = atol(arguments[4]);
    size_t size = (size_t)atol(arguments[5]);
    int64_t found;
    double seconds;
    if (is_producer)
        seconds = produce(bootstrap, topic, count, size, &found);
    else
        seconds = consume(bootstrap, topic, count, size, arguments[6], &found);
    printf("{\"count\": %lld, \"seconds\": %.6f}\n", (long long)found, seconds);
    return 0;
}
