/* The three loads: publishers that wait for answers, a consumer, and both at a steady rate. */
#include "driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define ANSWER_MS_MAX 60000
#define EVENTS_MAX 256

static int poller;

static void watch(int fd, uint32_t events, void *what) {
    struct epoll_event event = {.events = events, .data.ptr = what};
    if (!poller && (poller = epoll_create1(0)) < 0) fail("cannot poll");
    if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) && errno != EEXIST) fail("cannot poll");
    if (epoll_ctl(poller, EPOLL_CTL_MOD, fd, &event)) fail("cannot poll");
}

static int awaited(struct epoll_event *events) {
    int ready = epoll_wait(poller, events, EVENTS_MAX, ANSWER_MS_MAX);
    if (ready <= 0) fail("nothing came in time");
    return ready;
}

/* Waits for room to write only while something waits to be written. */
static void serve(struct connection *connection, uint32_t events, struct found *found) {
    int had_to_wait = (events & EPOLLOUT) != 0;
    if (had_to_wait) flush_out(connection);
    if (events & ~(uint32_t)EPOLLOUT) flow_in(connection, found);
    if (wants_to_write(connection) || had_to_wait)
        watch(connection->fd, EPOLLIN | (wants_to_write(connection) ? EPOLLOUT : 0u), connection);
}

static struct bytes hello_of(size_t connection) {
    struct list hellos = settings.hellos;
    return hellos.count ? hellos.items[connection % hellos.count] : (struct bytes){0};
}

void publish(void) {
    struct connection **all = calloc(settings.connections, sizeof *all);
    if (!all || !settings.requests.count) fail("nothing to publish");
    for (size_t i = 0; i < settings.connections; i++) {
        all[i] = connected(PUBLISHER, hello_of(i));
        all[i]->next = i % settings.requests.count;
        watch(all[i]->fd, EPOLLIN, all[i]);
    }
    uint64_t count = settings.count, sent = 0, measured = 0, begun_ns = now_ns(), now = begun_ns;
    uint64_t from_ns = begun_ns + (count ? 0 : (uint64_t)(settings.warm_up_s * 1e9));
    uint64_t until_ns = count ? UINT64_MAX : from_ns + (uint64_t)(settings.seconds * 1e9);
    for (size_t i = 0; i < settings.connections; i++) {
        uint64_t share = settings.window;
        if (count && share > count - sent) share = count - sent;
        sent += share;
        queue_requests(all[i], share);
        if (wants_to_write(all[i])) watch(all[i]->fd, EPOLLIN | EPOLLOUT, all[i]);
    }

    struct epoll_event events[EVENTS_MAX];
    uint64_t acked = 0, refused = 0;
    double measured_s = settings.seconds;
    while (acked + refused < sent) {
        int ready = awaited(events);
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            struct found found = {0};
            serve(connection, events[i].events, &found);
            uint64_t done = found.acked + found.refused;
            if (!done) continue;
            now = now_ns();
            acked += found.acked;
            refused += found.refused;
            /* On a machine so busy that nothing came in time, the time is made longer. */
            while (!count && !measured && now >= until_ns) {
                until_ns += (uint64_t)(settings.seconds * 1e9);
                measured_s += settings.seconds;
            }
            int is_measured = now >= from_ns && now < until_ns;
            for (uint64_t k = 0; k < done; k++) {
                uint64_t sent_ns = answered(connection);
                if (is_measured) note_latency(now - sent_ns);
            }
            if (is_measured) measured += done;
            uint64_t more = now < until_ns ? done : 0;
            if (count && more > count - sent) more = count - sent;
            sent += more;
            if (more) queue_requests(connection, more);
            if (wants_to_write(connection))
                watch(connection->fd, EPOLLIN | EPOLLOUT, connection);
        }
    }
    double seconds = count ? (double)(now - begun_ns) / 1e9 : measured_s;
    printf("{\"sent\": %llu, \"acked\": %llu, \"refused\": %llu, \"measured\": %llu, "
           "\"seconds\": %.6f, \"p50_us\": %.1f, \"p99_us\": %.1f}\n",
           (unsigned long long)sent, (unsigned long long)acked, (unsigned long long)refused,
           (unsigned long long)measured, seconds, latency_us(0.50), latency_us(0.99));
}

void consume(void) {
    uint64_t begun_ns = now_ns();
    struct connection *consumer = connected(CONSUMER, settings.listener_hello);
    say(consumer, settings.ask.data, settings.ask.size);
    watch(consumer->fd, EPOLLIN, consumer);
    struct epoll_event events[EVENTS_MAX];
    struct found found = {0};
    while (consumer->delivered < settings.count) {
        int ready = awaited(events);
        for (int i = 0; i < ready; i++) serve(consumer, events[i].events, &found);
    }
    printf("{\"count\": %llu, \"seconds\": %.6f}\n", (unsigned long long)consumer->delivered,
           (double)(now_ns() - begun_ns) / 1e9);
}

void latency(void) {
    uint64_t wanted = (uint64_t)(settings.rate_per_s * settings.seconds);
    if (!wanted || !settings.requests.count) fail("nothing to publish");
    uint64_t *sent_ns = malloc(wanted * sizeof *sent_ns);
    if (!sent_ns) fail("no memory");
    settings.window = wanted;
    struct connection *consumer = connected(CONSUMER, settings.listener_hello);
    say(consumer, settings.ask.data, settings.ask.size);
    struct connection *publisher = connected(PUBLISHER, hello_of(0));
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    long period_ns = (long)(1e9 / settings.rate_per_s);
    struct itimerspec schedule = {{0, period_ns}, {0, period_ns}};
    if (timer < 0 || timerfd_settime(timer, 0, &schedule, NULL)) fail("no timer");
    watch(consumer->fd, EPOLLIN, consumer);
    watch(publisher->fd, EPOLLIN, publisher);
    watch(timer, EPOLLIN, NULL);

    struct epoll_event events[EVENTS_MAX];
    uint64_t sent = 0, seen = consumer->delivered;
    struct found acks = {0};
    while (acks.acked + acks.refused < wanted || consumer->delivered < wanted) {
        int ready = awaited(events);
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            if (connection) {
                struct found found = {0};
                serve(connection, events[i].events, &found);
                acks.acked += found.acked;
                acks.refused += found.refused;
                uint64_t now = now_ns();
                for (; seen < consumer->delivered; seen++) {
                    if (seen >= sent) fail("more was delivered than was sent");
                    note_latency(now - sent_ns[seen]);
                }
                continue;
            }
            uint64_t due;
            if (read(timer, &due, sizeof due) != sizeof due) continue;
            for (; due && sent < wanted; due--) {
                sent_ns[sent++] = now_ns();
                queue_requests(publisher, 1);
            }
            if (wants_to_write(publisher)) watch(publisher->fd, EPOLLIN | EPOLLOUT, publisher);
        }
    }
    printf("{\"sent\": %llu, \"acked\": %llu, \"delivered\": %llu, \"p50_us\": %.1f, "
           "\"p99_us\": %.1f, \"max_us\": %.1f}\n",
           (unsigned long long)sent, (unsigned long long)acks.acked,
           (unsigned long long)consumer->delivered, latency_us(0.50), latency_us(0.99),
           latency_us(1.0));
}
