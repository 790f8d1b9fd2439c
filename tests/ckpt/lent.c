/* lent.c - what each check of a power cut needs, made once, lent many times.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Linked with --wrap in front of the functions below. A check opens a store,
 * whose buffers are of megabytes while its tensors are of kilobytes, which has
 * threads, and reads the same few manifests many times: to map, touch, start and
 * parse all this anew would take most of the time. What the store gets is the
 * same: a buffer is all zeros when it is lent, as the real ones are, and a
 * document is that of the very same bytes. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/thread.h"
#include "codec/json_tree.h"

#define LENT      16
#define BIG       ((size_t)2 << 20) /* from here on buffers are mapped */
#define PAGES_MAX 16384
#define TEXTS     256
#define POPULATE  23 /* MADV_POPULATE_WRITE, where headers know it */

void *__real_wr_big_alloc(size_t size);
void __real_wr_big_free(void *p, size_t size);
int __real_madvise(void *at, size_t len, int advice);
int __real_wr_thread_start(pthread_t *ret, const char *name,
                           void *(*run)(void *), void *arg, weir_err *err);
int __real_pthread_join(pthread_t t, void **ret);
int __real_wr_json_load(const void *bytes, size_t len, size_t flags,
                        json_t **ret, weir_err *err);

void *__wrap_wr_big_alloc(size_t size);
void __wrap_wr_big_free(void *p, size_t size);
int __wrap_madvise(void *at, size_t len, int advice);
int __wrap_wr_thread_start(pthread_t *ret, const char *name,
                           void *(*run)(void *), void *arg, weir_err *err);
int __wrap_pthread_join(pthread_t t, void **ret);
int __wrap_wr_json_load(const void *bytes, size_t len, size_t flags,
                        json_t **ret, weir_err *err);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- buffers --- */

struct buffer {
    uint8_t *p;
    size_t size;
    bool out;
    bool stays; /* pages are not swapped: mincore tells all that were used */
};

static struct buffer buffers[LENT];

/* With the lock held. */
static void *lend_buffer(size_t size)
{
    for (struct buffer *b = buffers; b < buffers + LENT; b++) {
        if (b->out || (b->p && b->size != size))
            continue;
        if (!b->p) {
            b->p = __real_wr_big_alloc(size);
            b->size = size;
            b->stays = b->p && mlock2(b->p, size, MLOCK_ONFAULT) == 0;
        }
        b->out = b->p;
        return b->p;
    }
    return NULL;
}

/* What is used of it is little, and used again. */
static void clean(struct buffer *b)
{
    unsigned char used[PAGES_MAX];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t count = (b->size + page - 1) / page;

    if (!b->stays || count > PAGES_MAX || mincore(b->p, b->size, used)) {
        __real_madvise(b->p, b->size, MADV_DONTNEED);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (used[i] & 1)
            memset(b->p + i * page, 0, page);
}

void *__wrap_wr_big_alloc(size_t size)
{
    void *p = NULL;

    if (size >= BIG) {
        pthread_mutex_lock(&lock);
        p = lend_buffer(size);
        pthread_mutex_unlock(&lock);
    }
    return p ? p : __real_wr_big_alloc(size);
}

void __wrap_wr_big_free(void *p, size_t size)
{
    struct buffer *b = buffers;

    pthread_mutex_lock(&lock);
    while (b < buffers + LENT && (!p || b->p != p))
        b++;
    pthread_mutex_unlock(&lock);
    if (b == buffers + LENT) {
        __real_wr_big_free(p, size);
        return;
    }
    clean(b); /* nobody else has it */
    pthread_mutex_lock(&lock);
    b->out = false;
    pthread_mutex_unlock(&lock);
}

/* Only what is used is touched. */
int __wrap_madvise(void *at, size_t len, int advice)
{
    return advice == POPULATE ? 0 : __real_madvise(at, len, advice);
}

/* --- threads --- */

struct worker {
    pthread_t thread;
    pthread_cond_t changed;
    bool there;           /* started, stays until the program ends */
    bool out;             /* lent and not joined yet */
    void *(*run)(void *); /* NULL: done */
    void *arg, *got;
};

static struct worker workers[LENT];

static void *work(void *arg)
{
    struct worker *w = arg;

    pthread_mutex_lock(&lock);
    for (;;) {
        void *got;

        while (!w->run)
            pthread_cond_wait(&w->changed, &lock);
        pthread_mutex_unlock(&lock);
        got = w->run(w->arg);
        pthread_mutex_lock(&lock);
        w->got = got;
        w->run = NULL;
        pthread_cond_broadcast(&w->changed);
    }
    return NULL;
}

int __wrap_wr_thread_start(pthread_t *ret, const char *name,
                           void *(*run)(void *), void *arg, weir_err *err)
{
    struct worker *w = workers;
    int r = 0;

    pthread_mutex_lock(&lock);
    while (w < workers + LENT && w->out)
        w++;
    if (w == workers + LENT) {
        pthread_mutex_unlock(&lock);
        return __real_wr_thread_start(ret, name, run, arg, err);
    }
    if (!w->there) {
        pthread_cond_init(&w->changed, NULL);
        r = __real_wr_thread_start(&w->thread, "lent", work, w, err);
        w->there = r == 0;
    }
    if (r == 0) {
        *ret = w->thread;
        w->out = true;
        w->arg = arg;
        w->run = run;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&lock);
    return r;
}

int __wrap_pthread_join(pthread_t t, void **ret)
{
    struct worker *w = workers;

    pthread_mutex_lock(&lock);
    while (w < workers + LENT && !(w->out && pthread_equal(w->thread, t)))
        w++;
    if (w == workers + LENT) {
        pthread_mutex_unlock(&lock);
        return __real_pthread_join(t, ret);
    }
    while (w->run)
        pthread_cond_wait(&w->changed, &lock);
    if (ret)
        *ret = w->got;
    w->out = false;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* --- documents: nobody changes one; each thread has its own, since a count of
 * references is not for two --- */

struct text {
    void *bytes; /* owned */
    size_t len;
    json_t *doc; /* ref */
};

static _Thread_local struct text texts[TEXTS];

static struct text *place_of(const void *bytes, size_t len)
{
    uint64_t h = len, word;

    for (size_t i = 0; i + 8 <= len; i += 8) {
        memcpy(&word, (const uint8_t *)bytes + i, 8);
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return &texts[wr_mix64(h) % TEXTS];
}

static void remember(struct text *t, const void *bytes, size_t len, json_t *doc)
{
    void *copy = malloc(len + 1);

    if (!copy)
        return;
    memcpy(copy, bytes, len);
    free(t->bytes);
    json_decref(t->doc);
    *t = (struct text){copy, len, json_incref(doc)};
}

int __wrap_wr_json_load(const void *bytes, size_t len, size_t flags,
                        json_t **ret, weir_err *err)
{
    struct text *t = place_of(bytes, len);
    json_t *doc = NULL;
    int r;

    if (t->doc && t->len == len && !memcmp(t->bytes, bytes, len))
        doc = json_incref(t->doc);
    if (!doc) {
        r = __real_wr_json_load(bytes, len, flags, &doc, err);
        if (r < 0)
            return r;
        remember(t, bytes, len, doc);
    }
    *ret = doc;
    return 0;
}
