/* reply.c - answers that are kept until they are due; recycled with buffers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mount/reply.h"

#include <stdlib.h>

#define SMALLEST   4096u
#define KEPT_BYTES (16u << 20) /* of each class, at most */
#define KEPT_MAX   1024u

static size_t class_bytes(unsigned size_class)
{
    return size_class ? (size_t)SMALLEST << (size_class - 1) : 0;
}

static unsigned class_of(size_t bytes)
{
    unsigned c = 0;

    while (c < WR_REPLY_CLASSES && class_bytes(c) < bytes)
        c++;
    return c;
}

/* What a burst of requests took does not stay with the mount. */
static size_t kept_limit(unsigned size_class)
{
    size_t each = class_bytes(size_class);

    return each && KEPT_BYTES / each < KEPT_MAX ? KEPT_BYTES / each : KEPT_MAX;
}

static void discard(struct wr_reply *r)
{
    free(r->buf);
    free(r);
}

void wr_reply_pool_init(struct wr_reply_pool *pool)
{
    *pool = (struct wr_reply_pool){0};
    pthread_mutex_init(&pool->lock, NULL);
}

void wr_reply_pool_done(struct wr_reply_pool *pool)
{
    for (unsigned c = 0; c < WR_REPLY_CLASSES; c++)
        for (struct wr_reply *r = pool->free[c], *next; r; r = next) {
            next = r->next;
            discard(r);
        }
    pthread_mutex_destroy(&pool->lock);
}

static struct wr_reply *make(unsigned size_class)
{
    struct wr_reply *r = calloc(1, sizeof(*r));
    size_t bytes = class_bytes(size_class);

    if (!r)
        return NULL;
    r->size_class = size_class;
    if (bytes)
        r->buf = aligned_alloc(SMALLEST, bytes);
    if (bytes && !r->buf) {
        free(r);
        return NULL;
    }
    return r;
}

struct wr_reply *wr_reply_new(struct wr_reply_pool *pool, fuse_req_t req,
                              size_t bytes)
{
    unsigned c = class_of(bytes);
    struct wr_reply *r;

    if (c >= WR_REPLY_CLASSES)
        return NULL;
    pthread_mutex_lock(&pool->lock);
    r = pool->free[c];
    if (r) {
        pool->free[c] = r->next;
        pool->kept[c]--;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!r)
        r = make(c);
    if (!r)
        return NULL;
    /* The rest is of the kinds that fill it; a recycled one has old bytes. */
    r->req = req;
    r->kind = WR_REPLY_ERROR;
    r->error = 0;
    r->size = 0;
    return r;
}

void wr_reply_free(struct wr_reply_pool *pool, struct wr_reply *r)
{
    bool keep;

    pthread_mutex_lock(&pool->lock);
    keep = pool->kept[r->size_class] < kept_limit(r->size_class);
    if (keep) {
        r->next = pool->free[r->size_class];
        pool->free[r->size_class] = r;
        pool->kept[r->size_class]++;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!keep)
        discard(r);
}

int wr_reply_send(const struct wr_reply *r)
{
    switch (r->kind) {
    case WR_REPLY_DATA:
        return fuse_reply_buf(r->req, r->buf, r->size);
    case WR_REPLY_COUNT:
        return fuse_reply_write(r->req, r->size);
    case WR_REPLY_ENTRY:
        return fuse_reply_entry(r->req, &r->entry);
    case WR_REPLY_OPEN:
    case WR_REPLY_OPENDIR:
        return fuse_reply_open(r->req, &r->fi);
    case WR_REPLY_CREATE:
        return fuse_reply_create(r->req, &r->entry, &r->fi);
    case WR_REPLY_ERROR:
        break;
    }
    return fuse_reply_err(r->req, r->error);
}
