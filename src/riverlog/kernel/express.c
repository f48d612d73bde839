/* Common Produce requests: read from many sockets at once, and answered there.
 *
 * A turn reads every socket that has something, takes the requests of the one common kind (one
 * topic, one partition, one sound batch, no transaction) and tells of them partition by partition.
 * Whatever else a client sends is given back as it came. What is appended, and when it is durable,
 * is decided in Python: kafka/express.py is the other half.
 */
#include "express.h"

#if defined(__linux__)
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PRODUCE = 0, INDEX_STEP = 4096 };

API void riverlog_express_free(Express *x) {
    if (x->poll >= 0) close(x->poll);
    for (int32_t n = 0; n < x->client_count; n++) free(x->clients[n].header), free(x->clients[n].rest);
    for (int32_t n = 0; n < x->place_count; n++) free(x->places[n].topic);
    for (int32_t n = 0; n < x->request_count; n++) free(x->requests[n].reply);
    free(x->clients), free(x->places), free(x->requests);
    free(x->table), free(x->group_of), free(x->touched), free(x->out);
    free(x);
}

/* Null when there is no memory, or no epoll. */
API Express *riverlog_express_new(int32_t clients_max, int32_t places_max, int32_t requests_max,
                                  int32_t requests_of_client_max) {
    Express *x = calloc(1, sizeof *x);
    if (!x) return 0;
    x->poll = epoll_create1(EPOLL_CLOEXEC);
    x->clients_max = clients_max;
    x->places_max = places_max;
    x->requests_max = requests_max;
    x->requests_of_client_max = requests_of_client_max;
    x->free_client = x->free_request = NONE;
    x->clients = calloc((size_t)clients_max, sizeof *x->clients);
    x->places = calloc((size_t)places_max, sizeof *x->places);
    x->requests = calloc((size_t)requests_max, sizeof *x->requests);
    x->table = malloc((size_t)places_max * 2 * sizeof *x->table);
    x->group_of = malloc((size_t)places_max * sizeof *x->group_of);
    x->touched = malloc((size_t)clients_max * sizeof *x->touched);
    x->out_room = READ_BYTES;
    x->out = malloc((size_t)x->out_room);
    if (x->poll < 0 || !x->clients || !x->places || !x->requests || !x->table || !x->group_of
        || !x->touched || !x->out) {
        riverlog_express_free(x);
        return 0;
    }
    for (int32_t n = 0; n < places_max * 2; n++) x->table[n] = NONE;
    for (int32_t n = 0; n < places_max; n++) x->group_of[n] = NONE;
    return x;
}

API int riverlog_express_poll(Express *x) { return x->poll; }
API int64_t riverlog_express_rest_bytes(Express *x) { return x->rest_bytes; }
API uint8_t *riverlog_express_out(Express *x) { return x->out; }
API int32_t riverlog_express_pending(Express *x, int32_t client) { return x->clients[client].pending; }

/* Places. */

/* Where a place stands in the table, or would. */
static uint32_t look_up(Express *x, const uint8_t *topic, int32_t bytes, int32_t index,
                        int32_t version, uint32_t *hash) {
    uint32_t h = 2166136261u ^ (uint32_t)version, room = (uint32_t)x->places_max * 2;
    for (int32_t n = 0; n < bytes; n++) h = (h ^ topic[n]) * 16777619u;
    h = (h ^ (uint32_t)index) * 16777619u;
    *hash = h ^= h >> 15;
    uint32_t at = h % room;
    for (; x->table[at] != NONE; at = (at + 1) % room) {
        Place *p = x->places + x->table[at];
        if (p->hash == h && p->index == index && p->version == version && p->topic_bytes == bytes
            && !memcmp(p->topic, topic, (size_t)bytes)) break;
    }
    return at;
}

/* Has requests for a partition of a topic, in one version, go to `partition`; -1: nowhere. Gives the
 * number of the place, -1 when there is no room. `offsets` is how many numbers stand between head
 * and tail of a reply. */
API int32_t riverlog_express_place(Express *x, const uint8_t *topic, int32_t topic_bytes, int32_t index,
                               int32_t version, int32_t partition, const uint8_t *head,
                               int32_t head_bytes, const uint8_t *tail, int32_t tail_bytes,
                               int32_t offsets) {
    uint32_t hash, at = look_up(x, topic, topic_bytes, index, version, &hash);
    if (x->table[at] == NONE) {
        uint8_t *copy;
        if (x->place_count == x->places_max) return NONE;
        if (!(copy = malloc((size_t)topic_bytes + (size_t)head_bytes + (size_t)tail_bytes))) return NONE;
        Place *p = x->places + x->place_count;
        *p = (Place){copy, copy + topic_bytes, copy + topic_bytes + head_bytes, topic_bytes,
                     head_bytes, tail_bytes, offsets, index, version, NONE, hash};
        memcpy(p->topic, topic, (size_t)topic_bytes);
        memcpy(p->head, head, (size_t)head_bytes);
        memcpy(p->tail, tail, (size_t)tail_bytes);
        x->table[at] = x->place_count++;
    }
    x->places[x->table[at]].partition = partition;
    return x->table[at];
}

/* Clients. */

/* Reads from a socket from now on; the number of the client, or -1. */
API int32_t riverlog_express_add(Express *x, int fd, int32_t version, const uint8_t *header,
                                 int32_t header_bytes) {
    int32_t id = x->free_client != NONE ? x->free_client : x->client_count;
    if (id == x->clients_max) return NONE;
    uint8_t *copy = malloc((size_t)header_bytes + 1);
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data = {.u32 = (uint32_t)id}};
    if (!copy || epoll_ctl(x->poll, EPOLL_CTL_ADD, fd, &event)) {
        free(copy);
        return NONE;
    }
    if (id == x->client_count) x->client_count++;
    else x->free_client = x->clients[id].next_free;
    memcpy(copy, header, (size_t)header_bytes);
    x->clients[id] = (Client){.header = copy, .header_bytes = header_bytes, .version = version,
                              .first = NONE, .last = NONE, .fd = fd, .has_asked = 1};
    return id;
}

static void drop_rest(Express *x, Client *c) {
    x->rest_bytes -= c->rest_bytes;
    free(c->rest);
    c->rest = 0;
    c->rest_bytes = 0;
}

/* Reads no more from a client. Puts what it has of an unfinished request into `into`, which has
 * room for any, and gives its size. From now on replies come back from `flush`. */
API int32_t riverlog_express_leave(Express *x, int32_t id, uint8_t *into) {
    Client *c = x->clients + id;
    int32_t bytes = c->rest_bytes;
    riverlog_stop_reading(x, c);
    memcpy(into, c->rest ? c->rest : into, (size_t)bytes);
    drop_rest(x, c);
    return bytes;
}

/* Forgets a client: its number, and its socket, may be another's from now on. */
API void riverlog_express_forget(Express *x, int32_t id) {
    Client *c = x->clients + id;
    riverlog_stop_reading(x, c);
    drop_rest(x, c);
    free(c->header);
    for (int32_t n = 0; c->is_touched && n < x->touched_count; n++)
        if (x->touched[n] == id) x->touched[n--] = x->touched[--x->touched_count];
    for (int32_t n = c->first, next; n != NONE; n = next) {
        next = x->requests[n].next_of_client;
        x->requests[n].client = NONE;
        riverlog_let_go(x, n);
    }
    *c = (Client){.fd = -1, .next_free = x->free_client};
    x->free_client = id;
}

/* Which clients have asked anything since the last time; how many. */
API int32_t riverlog_express_asked(Express *x, int32_t *ids) {
    int32_t count = 0;
    for (int32_t n = 0; n < x->client_count; n++) {
        if (x->clients[n].has_asked) ids[count++] = n;
        x->clients[n].has_asked = 0;
    }
    return count;
}

/* Requests. */

static int32_t new_request(Express *x) {
    int32_t id = x->free_request;
    if (id != NONE) x->free_request = x->requests[id].next_of_group;
    else if (x->request_count < x->requests_max) id = x->request_count++;
    return id;
}

/* Takes the frame of `bytes` at `at`; 0 when it is not for us. */
static int take(Express *x, int32_t client, const uint8_t *room, int64_t at, int32_t bytes,
                Group *groups, int32_t *group_count) {
    Client *c = x->clients + client;
    const uint8_t *p = room + at, *end = p + bytes;
    int version = be16(p + 6);
    Common common;
    uint32_t hash;
    if (be16(p + 4) != PRODUCE || version != c->version || c->pending >= x->requests_of_client_max)
        return 0;
    if (end - p < START + c->header_bytes || memcmp(p + START, c->header, (size_t)c->header_bytes))
        return 0;
    if (!riverlog_read_common(p + START + c->header_bytes, end, version, &common)) return 0;
    int32_t place = x->table[look_up(x, common.topic, common.topic_bytes, common.index, version, &hash)];
    if (place == NONE || x->places[place].partition < 0) return 0;
    int32_t id = new_request(x);
    if (id == NONE) return 0;
    const uint8_t *b = common.batch;
    x->requests[id] = (Request){
        .batch = b, .frame_at = at, .frame_bytes = bytes, .batch_bytes = (int32_t)common.batch_bytes,
        .records = (int32_t)be32(b + 57), .client = client, .place = place,
        .correlation = (int32_t)be32(p + 8), .acks = common.acks, .next_of_client = NONE,
        .next_of_group = NONE, .references = 2};
    if (c->first == NONE) c->first = id;
    else x->requests[c->last].next_of_client = id;
    c->last = id;
    c->pending++;
    int32_t *of = x->group_of + x->places[place].partition;
    if (*of == NONE) {
        *of = (*group_count)++;
        groups[*of] = (Group){.partition = x->places[place].partition, .first = id, .time_min = NO_TIME,
                              .time_max = NO_TIME};
    } else {
        x->requests[groups[*of].last].next_of_group = id;
    }
    Group *g = groups + *of;
    int64_t time_first = be64(b + 27), time_max = be64(b + 35);
    g->last = id;
    g->count++;
    g->waiting += common.acks == ACKS_ALL;
    g->bytes += common.batch_bytes;
    g->records += (int32_t)be32(b + 57);
    g->has_producers |= be64(b + 43) >= 0;
    if (time_max > g->time_max) g->time_max = time_max;
    if (time_first != NO_TIME && (g->time_min == NO_TIME || time_first < g->time_min))
        g->time_min = time_first;
    if (common.batch_bytes > g->batch_bytes_max) g->batch_bytes_max = common.batch_bytes;
    return 1;
}

/* Keeps the beginning of a frame until the rest of it comes; 0 when it is too long to wait for. */
static int keep(Express *x, Client *c, const uint8_t *p, int64_t bytes) {
    if (bytes >= PREFIX && (be32(p) > FRAME_BYTES_MAX - PREFIX || be32(p) < START - PREFIX)) return 0;
    if (!bytes) return 1;
    if (!(c->rest = malloc((size_t)bytes))) return 0;
    memcpy(c->rest, p, (size_t)bytes);
    c->rest_bytes = (int32_t)bytes;
    x->rest_bytes += bytes;
    return 1;
}

/* Reads what there is into `room`, and tells of it: groups, at most one for each event, and what is
 * given back, after which its clients are not read from any more. Both have room for any event. */
API void riverlog_express_turn(Express *x, uint8_t *room, int64_t room_bytes, Group *groups,
                               int32_t groups_max, int32_t *group_count, Back *backs,
                               int32_t *back_count) {
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(x->poll, events, EVENTS_MAX, 0);
    int64_t used = 0;
    *group_count = *back_count = 0;
    for (int n = 0; n < count; n++) {
        int32_t id = (int32_t)events[n].data.u32;
        Client *c = x->clients + id;
        int64_t at = used, end = used + c->rest_bytes;
        if (room_bytes - used < FRAME_BYTES_MAX + READ_BYTES) break;
        memcpy(room + at, c->rest ? c->rest : room + at, (size_t)c->rest_bytes);
        drop_rest(x, c);
        int64_t got = recv(c->fd, room + end, READ_BYTES, MSG_DONTWAIT);
        int is_over = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
        if (got > 0) end += got;
        c->has_asked = 1;
        used = end;
        while (!is_over && end - at >= PREFIX) {
            int64_t bytes = PREFIX + (int64_t)be32(room + at);
            if (bytes > end - at || bytes < START || bytes > FRAME_BYTES_MAX) break;
            if (*group_count == groups_max
                || !take(x, id, room, at, (int32_t)bytes, groups, group_count)) {
                is_over = 1;
                break;
            }
            at += bytes;
        }
        if (is_over || !keep(x, c, room + at, end - at)) {
            riverlog_stop_reading(x, c);
            backs[(*back_count)++] = (Back){id, at, end - at, 0};
        }
    }
    for (int32_t n = 0; n < *group_count; n++) x->group_of[groups[n].partition] = NONE;
}

/* Puts the batches of a group into `into`, at their place in the log. Gives how many `marks` there
 * are: position, base offset, and largest time before it, of a batch every few KiB. */
API int32_t riverlog_express_fill(Express *x, const Group *g, uint8_t *into, int64_t base_offset,
                                  int32_t leader_epoch, int64_t *marks) {
    int64_t at = 0, marked = 0, time_max = NO_TIME;
    int32_t count = 0;
    for (int32_t id = (int32_t)g->first; id != NONE; id = x->requests[id].next_of_group) {
        Request *r = x->requests + id;
        if (at - marked >= INDEX_STEP) {
            marks[3 * count] = marked = at;
            marks[3 * count + 1] = base_offset;
            marks[3 * count++ + 2] = time_max;
        }
        memcpy(into + at, r->batch, (size_t)r->batch_bytes);
        put64(into + at, base_offset);
        put32(into + at + LENGTH_END, (uint32_t)leader_epoch);
        if (be64(into + at + 35) > time_max) time_max = be64(into + at + 35);
        r->base_offset = base_offset;
        base_offset += r->records;
        at += r->batch_bytes;
    }
    return count;
}

/* The requests of a group, for those who look at each. */
API void riverlog_express_requests(Express *x, int32_t first, int64_t *found) {
    for (int32_t id = first; id != NONE; id = x->requests[id].next_of_group, found += 6) {
        Request *r = x->requests + id;
        int64_t row[] = {id, r->client, r->place, r->correlation, r->frame_at, r->frame_bytes};
        memcpy(found, row, sizeof row);
    }
}

void riverlog_stop_reading(Express *x, Client *c) {
    if (!c->is_leaving) epoll_ctl(x->poll, EPOLL_CTL_DEL, c->fd, 0);
    c->is_leaving = 1;
}
#endif
