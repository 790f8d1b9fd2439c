/* device.c - a model of a storage device: when would it have answered?
 * SPDX-License-Identifier: Apache-2.0
 *
 * All is computed when a request comes, first come, first served: what is
 * known then are the times at which channels and bus are free again. */
#include "storage/device.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shares.h"
#include "base/error.h"
#include "base/mem.h"

#define MAX_SPANS 64

/* Where a stream of reads or writes has come to. */
struct position {
    uint64_t object, end;
    bool known;
};

struct busy_span {
    uint64_t from, to;
};

struct wr_device {
    struct wr_device_profile p;
    pthread_mutex_t lock; /* guards all below; a leaf */

    /* A heap, earliest first, of when the outstanding requests are done. More
     * than the law tells apart need not be known: of those the latest are
     * kept. */
    uint64_t *due; /* owned: max_depth */
    unsigned due_count, max_depth;

    uint64_t *channel_free; /* owned: p.channels */

    /* When the bus is taken: rising, apart from each other. A transfer may go
     * before one that was asked for earlier and is ready later. */
    struct busy_span bus[MAX_SPANS];
    unsigned bus_count;

    struct position read_at, write_at;

    /* Writes are drained one by one until `drain_end`. `drain_work` is all the
     * time that draining ever took; the ring has its value behind each of the
     * latest writes, so that those still waiting can be counted. */
    uint64_t drain_end, drain_work;
    uint64_t *drained_at; /* owned: max_depth */
    uint64_t writes;

    struct wr_device_use use;
};

/* --- times --- */

static uint64_t later(uint64_t t, double ns)
{
    /* Nothing takes longer than 30 years. */
    uint64_t by = ns < 1e18 ? (uint64_t)llround(ns) : UINT64_C(1) << 60;

    return t > UINT64_MAX - by ? UINT64_MAX : t + by;
}

static double transfer_ns(uint64_t len, double bytes_per_s)
{
    return bytes_per_s > 0 ? (double)len / bytes_per_s * 1e9 : 0;
}

/* --- how many are waiting --- */

static void sift_down(uint64_t *heap, unsigned n)
{
    for (unsigned i = 0, k; (k = 2 * i + 1) < n; i = k) {
        uint64_t tmp = heap[i];

        if (k + 1 < n && heap[k + 1] < heap[k])
            k++;
        if (tmp <= heap[k])
            return;
        heap[i] = heap[k];
        heap[k] = tmp;
    }
}

static void due_pop(struct wr_device *d)
{
    d->due[0] = d->due[--d->due_count];
    sift_down(d->due, d->due_count);
}

static void due_push(struct wr_device *d, uint64_t t)
{
    unsigned i;

    if (d->due_count == d->max_depth) {
        if (t <= d->due[0])
            return;
        due_pop(d);
    }
    for (i = d->due_count++; i && d->due[(i - 1) / 2] > t; i = (i - 1) / 2)
        d->due[i] = d->due[(i - 1) / 2];
    d->due[i] = t;
}

static unsigned pending_writes(const struct wr_device *d, uint64_t now)
{
    uint64_t left = d->drain_end > now ? d->drain_end - now : 0;
    uint64_t done = d->drain_work - WR_MIN(left, d->drain_work);
    unsigned n = 0;

    while (n < d->max_depth && n < d->writes &&
           d->drained_at[(d->writes - 1 - n) % d->max_depth] > done)
        n++;
    return n;
}

/* --- seeks --- */

double wr_device_law(const struct wr_device_profile *p, unsigned depth)
{
    const struct wr_seek_point *b = p->seek_law, *a;
    double x;

    if (!p->seek_points)
        return 1;
    while (b < p->seek_law + p->seek_points && b->depth < depth)
        b++;
    if (b == p->seek_law)
        return b->factor;
    a = b - 1;
    if (b == p->seek_law + p->seek_points)
        return a->factor;
    x = (log(depth) - log(a->depth)) / (log(b->depth) - log(a->depth));
    return exp(log(a->factor) + x * (log(b->factor) - log(a->factor)));
}

static bool follows(const struct wr_device *d, const struct position *at,
                    const struct wr_device_request *rq)
{
    uint64_t gap = rq->offset > at->end ? rq->offset - at->end
                                        : at->end - rq->offset;

    return at->known && rq->object == at->object && gap <= d->p.near_bytes;
}

static double seek_ns(struct wr_device *d, struct position *at,
                      const struct wr_device_request *rq, unsigned depth)
{
    double ns = 0;

    if (d->p.seek_us > 0 && !follows(d, at, rq))
        ns = d->p.seek_us * 1e3 * wr_device_law(&d->p, depth);
    at->object = rq->object;
    at->end = rq->offset + rq->len;
    at->known = true;
    return ns;
}

/* --- channels and bus --- */

static uint64_t *first_free(struct wr_device *d)
{
    uint64_t *best = d->channel_free;

    for (unsigned c = 1; c < d->p.channels; c++)
        if (d->channel_free[c] < *best)
            best = &d->channel_free[c];
    return d->p.channels ? best : NULL;
}

/* Takes the bus for `ns` at `ready` or in the first gap behind it; returns the
 * end of the transfer. */
static uint64_t take_bus(struct wr_device *d, uint64_t now, uint64_t ready,
                         double ns)
{
    unsigned gone = 0, k = 0;
    uint64_t end;

    while (gone < d->bus_count && d->bus[gone].to <= now)
        gone++;
    d->bus_count -= gone;
    memmove(d->bus, d->bus + gone, d->bus_count * sizeof(d->bus[0]));
    /* With no room to note a gap, transfers take the end of the queue. */
    if (d->bus_count == MAX_SPANS)
        ready = WR_MAX(ready, d->bus[MAX_SPANS - 1].to);
    while (k < d->bus_count && later(ready, ns) > d->bus[k].from) {
        ready = WR_MAX(ready, d->bus[k].to);
        k++;
    }
    end = later(ready, ns);
    if (k && d->bus[k - 1].to == ready) {
        d->bus[k - 1].to = end;
    } else if (k == MAX_SPANS) {
        d->bus[k - 1].to = end; /* the gap before it is given up */
    } else {
        memmove(d->bus + k + 1, d->bus + k,
                (d->bus_count - k) * sizeof(d->bus[0]));
        d->bus[k] = (struct busy_span){ready, end};
        d->bus_count++;
        k++;
    }
    if (k < d->bus_count && d->bus[k].from == end) {
        d->bus[k - 1].to = d->bus[k].to;
        d->bus_count--;
        memmove(d->bus + k, d->bus + k + 1,
                (d->bus_count - k) * sizeof(d->bus[0]));
    }
    return end;
}

/* --- the requests --- */

static uint64_t do_read(struct wr_device *d, const struct wr_device_request *rq,
                        uint64_t now, unsigned depth)
{
    uint64_t *channel = first_free(d);
    uint64_t start = channel ? WR_MAX(now, *channel) : now, done;
    double wait = d->p.read_latency_us * 1e3, move;

    if (rq->opens)
        wait += d->p.meta_latency_us * 1e3;
    wait += seek_ns(d, &d->read_at, rq, depth);
    move = transfer_ns(rq->len, d->p.read_bytes_per_s);
    done = later(start, wait);
    if (move > 0)
        done = take_bus(d, now, done, move);
    d->use.read_ns += later(0, move);
    if (channel)
        *channel = done;
    /* Reads go first: what they take, the writes behind them get later. A
     * device with one channel (an arm) can do nothing else meanwhile, others
     * share the bus. */
    if (d->drain_end > now)
        d->drain_end = later(
            d->drain_end, d->p.channels == 1 ? (double)(done - start) : move);
    return done;
}

static uint64_t do_write(struct wr_device *d,
                         const struct wr_device_request *rq, uint64_t now,
                         unsigned depth)
{
    const struct wr_device_profile *p = &d->p;
    uint64_t answered = later(now, p->write_latency_us * 1e3), cached, work;
    double drain = transfer_ns(rq->len, p->write_bytes_per_s);

    if (p->seek_us > 0)
        drain += seek_ns(d, &d->write_at, rq, depth + pending_writes(d, now));
    d->drain_end = WR_MAX(now, d->drain_end);
    work = later(d->drain_end, drain) - d->drain_end;
    d->drain_end += work;
    d->drain_work += work;
    d->drained_at[d->writes++ % d->max_depth] = d->drain_work;
    if (!p->write_cache_bytes)
        return later(d->drain_end, p->write_latency_us * 1e3);
    cached = later(0, transfer_ns(p->write_cache_bytes, p->write_bytes_per_s));
    return d->drain_end > cached ? WR_MAX(answered, d->drain_end - cached)
                                 : answered;
}

static uint64_t do_meta(struct wr_device *d, uint64_t now)
{
    uint64_t *channel = first_free(d);
    uint64_t start = channel ? WR_MAX(now, *channel) : now;
    uint64_t done = later(start, d->p.meta_latency_us * 1e3);

    if (channel)
        *channel = done;
    return done;
}

static uint64_t serve(struct wr_device *d, const struct wr_device_request *rq,
                      uint64_t now)
{
    unsigned depth;

    while (d->due_count && d->due[0] <= later(now, (double)rq->early_ns))
        due_pop(d);
    depth = d->due_count + 1;
    switch (rq->op) {
    case WR_DEVICE_READ:
        return do_read(d, rq, now, depth);
    case WR_DEVICE_WRITE:
        return do_write(d, rq, now, depth);
    case WR_DEVICE_META:
        return do_meta(d, now);
    case WR_DEVICE_SYNC:
        return later(WR_MAX(now, d->drain_end), d->p.sync_latency_us * 1e3);
    }
    return now;
}

static void count(struct wr_device_use *u, const struct wr_device_request *rq,
                  uint64_t now, uint64_t done)
{
    if (!u->requests++ || now < u->first_ns)
        u->first_ns = now;
    u->last_ns = WR_MAX(u->last_ns, done);
    if (rq->op == WR_DEVICE_READ)
        u->read_bytes += rq->len;
    else if (rq->op == WR_DEVICE_WRITE)
        u->written_bytes += rq->len;
}

uint64_t wr_device_submit(struct wr_device *d,
                          const struct wr_device_request *rq, uint64_t now_ns)
{
    uint64_t done;

    pthread_mutex_lock(&d->lock);
    done = serve(d, rq, now_ns);
    count(&d->use, rq, now_ns, done);
    if (done > now_ns)
        due_push(d, done);
    pthread_mutex_unlock(&d->lock);
    return done;
}

void wr_device_use(struct wr_device *d, struct wr_device_use *ret)
{
    pthread_mutex_lock(&d->lock);
    *ret = d->use;
    pthread_mutex_unlock(&d->lock);
}

int wr_device_new(const struct wr_device_profile *p, struct wr_device **ret,
                  weir_err *err)
{
    struct wr_device *d = calloc(1, sizeof(*d));

    if (!d)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    d->p = *p;
    d->max_depth = p->seek_points ? p->seek_law[p->seek_points - 1].depth : 1;
    d->due = calloc(d->max_depth, sizeof(*d->due));
    d->drained_at = calloc(d->max_depth, sizeof(*d->drained_at));
    d->channel_free = calloc(WR_MAX(p->channels, 1u), sizeof(*d->channel_free));
    pthread_mutex_init(&d->lock, NULL);
    if (!d->due || !d->drained_at || !d->channel_free) {
        wr_device_free(d);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    *ret = d;
    return 0;
}

void wr_device_free(struct wr_device *d)
{
    if (!d)
        return;
    pthread_mutex_destroy(&d->lock);
    free(d->due);
    free(d->drained_at);
    free(d->channel_free);
    free(d);
}

/* --- one for all --- */

static int make_device(const void *profile, void **ret, weir_err *err)
{
    struct wr_device *d = NULL;
    int r = wr_device_new(profile, &d, err);

    if (r == 0)
        *ret = d;
    return r;
}

static void free_device(void *d)
{
    wr_device_free(d);
}

static const struct wr_common_kind devices = {make_device, free_device};

int wr_device_ref(const struct wr_device_profile *p, const char *place,
                  struct wr_device **ret, weir_err *err)
{
    char *text = wr_device_profile_text(p), *name = NULL;
    void *d = NULL;
    int r;

    /* By what a profile says, not by its file, which may change. */
    if (!text || asprintf(&name, "%s\n%s", text, place) < 0)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    else
        r = wr_common_ref(&devices, name, p, &d, err);
    if (r == 0)
        *ret = d;
    free(text);
    free(name);
    return r;
}

void wr_device_unref(struct wr_device *d)
{
    wr_common_unref(d);
}
