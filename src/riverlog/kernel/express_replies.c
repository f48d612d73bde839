/* Replies of the express lane: in the order of each client's requests, one write for each client. */
#include "express.h"

#if defined(__linux__)
#include <stdlib.h>
#include <sys/socket.h>

void riverlog_let_go(Express *x, int32_t id) {
    Request *r = x->requests + id;
    if (--r->references) return;
    free(r->reply);
    r->reply = 0;
    r->next_of_group = x->free_request;
    x->free_request = id;
}

static void is_ready(Express *x, Request *r) {
    if (r->is_ready) return;
    r->is_ready = 1;
    if (r->client == NONE || x->clients[r->client].is_touched) return;
    x->clients[r->client].is_touched = 1;
    x->touched[x->touched_count++] = r->client;
}

/* The offsets of a group stand: its requests may be answered, only those that did not want to wait
 * unless `is_durable`, which is said once and last. */
API void riverlog_express_tell(Express *x, int32_t first, int64_t log_start, int is_durable) {
    for (int32_t id = first, next; id != NONE; id = next) {
        Request *r = x->requests + id;
        next = r->next_of_group;
        if (is_durable || r->acks == ACKS_LEADER) {
            r->log_start = log_start;
            is_ready(x, r);
        }
        if (is_durable) riverlog_let_go(x, id);
    }
}

/* Answers one request with these bytes, its whole frame, and lets its group go of it. */
API int riverlog_express_answer(Express *x, int32_t id, const uint8_t *reply, int32_t bytes) {
    Request *r = x->requests + id;
    if (!r->is_ready) {
        if (!(r->reply = malloc((size_t)bytes + 1))) return 0;
        memcpy(r->reply, reply, (size_t)bytes);
        r->reply_bytes = bytes;
        is_ready(x, r);
    }
    riverlog_let_go(x, id);
    return 1;
}

static int has_room(Express *x, int64_t bytes) {
    if (x->out_bytes + bytes <= x->out_room) return 1;
    int64_t room = (x->out_bytes + bytes) * 2;
    uint8_t *more = realloc(x->out, (size_t)room);
    if (!more) return 0;
    x->out = more;
    x->out_room = room;
    return 1;
}

static int put_reply(Express *x, const Request *r) {
    const Place *p = x->places + r->place;
    int32_t bytes = r->reply ? r->reply_bytes : START - PREFIX + p->head_bytes + 8 * p->offsets + p->tail_bytes;
    if (!has_room(x, bytes)) return 0;
    uint8_t *to = x->out + x->out_bytes;
    x->out_bytes += bytes;
    if (r->reply) {
        memcpy(to, r->reply, (size_t)bytes);
        return 1;
    }
    put32(to, (uint32_t)(bytes - PREFIX));
    put32(to + 4, (uint32_t)r->correlation);
    memcpy(to + 8, p->head, (size_t)p->head_bytes);
    to += 8 + p->head_bytes;
    int64_t numbers[] = {r->base_offset, NO_TIME, r->log_start};
    for (int32_t n = 0; n < p->offsets; n++, to += 8) put64(to, numbers[n]);
    memcpy(to, p->tail, (size_t)p->tail_bytes);
    return 1;
}

/* Sends every reply whose turn has come, one write for each client, until there are `max` `backs`:
 * what could not be sent, in `out`, and who is leaving and has nothing left under way. Gives how
 * many there are; -1 when there is no memory. */
API int32_t riverlog_express_flush(Express *x, Back *backs, int32_t max) {
    int32_t back_count = 0;
    x->out_bytes = 0;
    while (x->touched_count && back_count < max) {
        int32_t id = x->touched[x->touched_count - 1];
        Client *c = x->clients + id;
        int64_t start = x->out_bytes, sent = 0;
        for (int32_t r; (r = c->first) != NONE && x->requests[r].is_ready; riverlog_let_go(x, r)) {
            if (!put_reply(x, x->requests + r)) return -1;
            c->first = x->requests[r].next_of_client;
            if (c->first == NONE) c->last = NONE;
            c->pending--;
        }
        c->is_touched = 0;
        x->touched_count--;
        int64_t bytes = x->out_bytes - start;
        if (bytes && !c->is_leaving) {
            sent = send(c->fd, x->out + start, (size_t)bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (sent < 0) sent = 0;
            if (sent < bytes) riverlog_stop_reading(x, c);
        }
        if (c->is_leaving && (sent < bytes || !c->pending))
            backs[back_count++] = (Back){id, start + sent, bytes - sent, !c->pending};
        else x->out_bytes = start;
    }
    return back_count;
}
#endif
