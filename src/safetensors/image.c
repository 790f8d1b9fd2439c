/* image.c - a shard in memory: planned, filled by several threads, waited for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "safetensors/image.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/shares.h"
#include "base/shown.h"
#include "base/sorted.h"
#include "base/thread.h"
#include "safetensors/shard_sum.h"
#include "storage/storage.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/mem.h"

/* --- copies that leave the caches alone --- */

#if defined(__SSE2__)
void wr_copy_past(void *to, const void *from, size_t len)
{
    size_t head = WR_MIN(len, -(uintptr_t)to % 64), i;
    const uint8_t *src = from;
    uint8_t *dst = to;

    memcpy(dst, src, head);
    dst += head;
    src += head;
    len -= head;
    for (i = 0; i + 64 <= len; i += 64) {
        __m128i a = _mm_loadu_si128((const __m128i *)(src + i));
        __m128i b = _mm_loadu_si128((const __m128i *)(src + i + 16));
        __m128i c = _mm_loadu_si128((const __m128i *)(src + i + 32));
        __m128i d = _mm_loadu_si128((const __m128i *)(src + i + 48));

        _mm_prefetch((const char *)src + i + 1024, _MM_HINT_NTA);
        _mm_stream_si128((__m128i *)(dst + i), a);
        _mm_stream_si128((__m128i *)(dst + i + 16), b);
        _mm_stream_si128((__m128i *)(dst + i + 32), c);
        _mm_stream_si128((__m128i *)(dst + i + 48), d);
    }
    _mm_sfence(); /* others see it as they see a plain copy */
    memcpy(dst + i, src + i, len - i);
}
#else
void wr_copy_past(void *to, const void *from, size_t len)
{
    memcpy(to, from, len);
}
#endif

/* Less than this is copied: a read or write of its own costs more. */
#define LEAST ((uint64_t)128 << 10)

/* --- bytes of a shard's data and the memory that they belong to --- */

static void *memory_at(const struct wr_stretch *x, uint64_t offset)
{
    return (uint8_t *)x->at + (offset - x->begin);
}

size_t wr_stretches_join(struct wr_stretch *x, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        struct wr_stretch *last = &x[n - (n > 0)];

        if (x[i].begin == x[i].end)
            continue;
        if (n && last->end == x[i].begin &&
            memory_at(last, last->end) == x[i].at)
            last->end = x[i].end;
        else
            x[n++] = x[i];
    }
    return n;
}

struct wr_stretch wr_stretch_pages(const struct wr_stretch *x)
{
    uint64_t begin = WR_ALIGN_UP(x->begin, (uint64_t)WR_DIRECT_ALIGN),
             end = x->end & ~(uint64_t)(WR_DIRECT_ALIGN - 1);
    void *at;

    if (begin + LEAST > end)
        return (struct wr_stretch){0};
    at = memory_at(x, begin);
    if ((uintptr_t)at % (uint64_t)WR_DIRECT_ALIGN)
        return (struct wr_stretch){0};
    return (struct wr_stretch){begin, end, at};
}

#define PAGE        ((uint64_t)4096)
#define THREADS_MAX 64u
#define MEMORY_STEP ((uint64_t)2 << 20) /* from here on memory is mapped */
#define TOUCH_PIECE ((uint64_t)16 << 20)
/* Chosen, not tuned: small pieces so that a writer that follows begins at once,
 * larger ones to spare wakeups when nobody follows. */
#define EAGER_PIECE ((uint64_t)1 << 20)
#define LARGE_PIECE ((uint64_t)8 << 20)
/* No head has room for the checksums of more. */
#define DATA_MAX ((uint64_t)WR_ST_MAX_JSON / 8 * WR_CHUNK)

struct wr_image {
    struct wr_pool *pool; /* owned: threads that copy */
    uint8_t *bytes;       /* owned: `memory` bytes */
    uint64_t memory;

    struct wr_st_head head; /* owned */
    size_t *order;          /* owned: planned tensor -> the caller's */
    char *crc_text;         /* borrowed from head: value of WR_IMAGE_CRC_KEY */
    bool planned;
    struct wr_stretch *lent; /* owned; rising, whole pages */
    uint64_t *skipped;       /* owned: bytes lent before each, and in all */
    size_t lent_count;

    /* The fill that is going on. */
    const weir_tensor *tensors; /* borrowed */
    uint64_t piece;
    atomic_uint_fast64_t next; /* piece to be copied */

    pthread_mutex_t lock; /* guards all below; a leaf lock */
    pthread_cond_t grown;
    uint64_t ready;  /* the data [0, ready) are there */
    uint64_t wanted; /* the least that a thread waits for; 0: none waits */
    uint8_t *done;   /* owned: a byte a piece */
    size_t done_cap;
    uint64_t done_next; /* the first piece that is not there */
};

/* One round of touching. */
struct touch {
    uint8_t *bytes;
    uint64_t len;
    atomic_int os_errno;
};

int wr_image_new(unsigned threads, struct wr_image **ret, weir_err *err)
{
    struct wr_image *img = calloc(1, sizeof(*img));
    int r;

    if (!img)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_pool_new(&img->pool,
                    WR_MIN(threads ? threads : wr_cpu_count(), THREADS_MAX),
                    "weir-copy", err);
    if (r < 0) {
        free(img);
        return r;
    }
    pthread_mutex_init(&img->lock, NULL);
    pthread_cond_init(&img->grown, NULL);
    *ret = img;
    return 0;
}

static void forget_plan(struct wr_image *img)
{
    wr_st_done(&img->head);
    free(img->order);
    img->order = NULL;
    img->crc_text = NULL;
    img->planned = false;
    free(img->lent);
    free(img->skipped);
    img->lent = NULL;
    img->skipped = NULL;
    img->lent_count = 0;
}

static void drop_memory(struct wr_image *img)
{
    wr_big_free(img->bytes, (size_t)img->memory);
    wr_share_give(WR_SHARE_MEMORY, img->memory);
    img->bytes = NULL;
    img->memory = 0;
}

void wr_image_free(struct wr_image *img)
{
    if (!img)
        return;
    wr_pool_free(img->pool);
    forget_plan(img);
    drop_memory(img);
    free(img->done);
    pthread_cond_destroy(&img->grown);
    pthread_mutex_destroy(&img->lock);
    free(img);
}

uint64_t wr_image_memory(const struct wr_image *img)
{
    return img->memory;
}

/* --- memory --- */

/* 0 or an errno. */
static int touch_range(uint8_t *at, size_t len)
{
#ifdef MADV_POPULATE_WRITE
    int r;

    do
        r = madvise(at, len, MADV_POPULATE_WRITE);
    while (r < 0 && errno == EINTR);
    if (r == 0)
        return 0;
    if (errno != EINVAL) /* EINVAL: before Linux 5.14 */
        return errno;
#endif
    for (size_t i = 0; i < len; i += PAGE)
        *(volatile uint8_t *)(at + i) = 0;
    return 0;
}

static void touch_part(void *arg, size_t part, unsigned thread)
{
    struct touch *t = arg;
    uint64_t at = part * TOUCH_PIECE;
    int e = touch_range(t->bytes + at, WR_MIN(TOUCH_PIECE, t->len - at));

    if (e)
        t->os_errno = e;
}

int wr_image_reserve(struct wr_image *img, uint64_t bytes, weir_err *err)
{
    struct touch t = {0};

    if (bytes <= img->memory)
        return 0;
    /* The old memory goes first: nobody needs its content, and both together
     * may not fit. */
    drop_memory(img);
    if (bytes < SIZE_MAX / 2) {
        t.len = WR_ALIGN_UP(bytes, MEMORY_STEP);
        t.bytes = wr_big_alloc((size_t)t.len);
    }
    if (!t.bytes)
        return wr_fail(err, WEIR_ENOMEM,
                       "no memory for a snapshot of %" PRIu64 " bytes", bytes);
    wr_pool_run(img->pool, (size_t)((t.len + TOUCH_PIECE - 1) / TOUCH_PIECE),
                touch_part, &t);
    if (t.os_errno) {
        wr_big_free(t.bytes, (size_t)t.len);
        return wr_fail_errno(err, t.os_errno,
                             "no memory for a snapshot of %" PRIu64 " bytes",
                             bytes);
    }
    img->bytes = t.bytes;
    img->memory = t.len;
    /* A snapshot cannot do with less; pipelines can. */
    wr_share_take_anyway(WR_SHARE_MEMORY, t.len);
    return 0;
}

/* --- lending --- */

static uint64_t lent_bytes(const struct wr_image *img)
{
    return img->skipped ? img->skipped[img->lent_count] : 0;
}

/* The whole pages of the tensors' own memory. Without memory for the list all
 * is copied. */
static void lend(struct wr_image *img, const weir_tensor *tensors)
{
    const struct wr_st_head *h = &img->head;
    size_t count;

    img->lent = calloc(h->count + 1, sizeof(*img->lent));
    img->skipped = calloc(h->count + 1, sizeof(*img->skipped));
    if (!img->lent || !img->skipped)
        return;
    for (size_t i = 0; i < h->count; i++)
        img->lent[i] = (struct wr_stretch){h->tensors[i].begin,
                                           h->tensors[i].end,
                                           tensors[img->order[i]].data};
    count = wr_stretches_join(img->lent, h->count);
    for (size_t i = 0; i < count; i++) {
        struct wr_stretch x = wr_stretch_pages(&img->lent[i]);
        size_t n = img->lent_count;

        if (x.begin == x.end)
            continue;
        img->lent[n] = x;
        img->skipped[n + 1] = img->skipped[n] + (x.end - x.begin);
        img->lent_count++;
    }
}

bool wr_image_lends(const struct wr_image *img)
{
    return img->lent_count > 0;
}

/* The first that ends behind `at`; lent_count: none. */
static size_t lent_behind(const struct wr_image *img, uint64_t at)
{
    return wr_count_below(img->lent, sizeof(*img->lent), img->lent_count,
                          offsetof(struct wr_stretch, end), at + 1);
}

/* Where the data from `at` on are, which are not lent; `next` is what
 * lent_behind says. Memory has no gaps for what is lent. */
static uint8_t *memory_of(const struct wr_image *img, uint64_t at, size_t next)
{
    uint64_t skipped = img->skipped ? img->skipped[next] : 0;

    return img->bytes + img->head.data_offset + (at - skipped);
}

/* --- the plan --- */

static int sum_bytes(const weir_tensor *tensors, size_t count, uint64_t *ret,
                     weir_err *err)
{
    uint64_t sum = 0, one;

    for (size_t i = 0; i < count; i++) {
        int r = wr_tensor_bytes(&tensors[i], &one, err);

        if (r < 0)
            return r;
        if (one > DATA_MAX - sum)
            return wr_fail(err, WEIR_ELIMIT,
                           "'%s': too many bytes in all, at most %" PRIu64
                           " go into a file",
                           tensors[i].name ? wr_show(tensors[i].name).text : "",
                           DATA_MAX);
        sum += one;
    }
    *ret = sum;
    return 0;
}

static size_t chunks_of(uint64_t bytes)
{
    return (size_t)((bytes + WR_CHUNK - 1) / WR_CHUNK);
}

/* The caller's pairs and room for `chunks` checksums; one allocation. */
static weir_pair *with_crc_room(const weir_pair *metadata, size_t count,
                                size_t chunks)
{
    size_t room = (count + 1) * sizeof(weir_pair);
    weir_pair *pairs = malloc(room + 8 * chunks + 1);
    char *zeros;

    if (!pairs)
        return NULL;
    zeros = (char *)pairs + room;
    memset(zeros, '0', 8 * chunks);
    zeros[8 * chunks] = '\0';
    if (count)
        memcpy(pairs, metadata, count * sizeof(*pairs));
    pairs[count] = (weir_pair){WR_IMAGE_CRC_KEY, zeros};
    return pairs;
}

static char *find_crc_text(const struct wr_st_head *h)
{
    for (size_t i = 0; i < h->metadata_count; i++)
        if (strcmp(h->metadata[i].key, WR_IMAGE_CRC_KEY) == 0)
            return h->metadata[i].value;
    return NULL;
}

/* Nothing is ready; the bytes behind the file, up to the page, are 0. What is
 * lent takes no memory. */
static int start_over(struct wr_image *img, weir_err *err)
{
    uint64_t size = wr_image_size(img) - lent_bytes(img);
    uint64_t end = WR_ALIGN_UP(size, PAGE);
    uint64_t pieces = img->head.data_bytes / EAGER_PIECE + 1;
    int r = wr_image_reserve(img, end, err);

    if (r < 0)
        return r;
    if (!wr_grow(&img->done, &img->done_cap, (size_t)pieces, 1))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    memset(img->bytes + size, 0, (size_t)(end - size));
    pthread_mutex_lock(&img->lock);
    img->ready = 0;
    img->done_next = 0;
    memset(img->done, 0, (size_t)pieces);
    pthread_mutex_unlock(&img->lock);
    return 0;
}

/* The head. */
static int plan_head(struct wr_image *img, const weir_tensor *tensors,
                     size_t count, const weir_pair *metadata,
                     size_t metadata_count, weir_err *err)
{
    weir_pair *pairs = NULL;
    uint64_t bytes = 0;
    int r;

    forget_plan(img);
    r = sum_bytes(tensors, count, &bytes, err);
    if (r < 0)
        return r;
    pairs = with_crc_room(metadata, metadata_count, chunks_of(bytes));
    img->order = wr_st_order(tensors, count);
    r = pairs && img->order ? wr_st_plan(tensors, count, pairs,
                                         metadata_count + 1, &img->head, err)
                            : wr_fail(err, WEIR_ENOMEM, "out of memory");
    free(pairs);
    if (r < 0)
        return r;
    img->crc_text = find_crc_text(&img->head);
    return 0;
}

int wr_image_plan(struct wr_image *img, const weir_tensor *tensors,
                  size_t count, const weir_pair *metadata,
                  size_t metadata_count, weir_err *err)
{
    int r = plan_head(img, tensors, count, metadata, metadata_count, err);

    if (r == 0)
        r = start_over(img, err);
    img->planned = r == 0;
    return r;
}

int wr_image_plan_lent(struct wr_image *img, const weir_tensor *tensors,
                       size_t count, const weir_pair *metadata,
                       size_t metadata_count, weir_err *err)
{
    int r = plan_head(img, tensors, count, metadata, metadata_count, err);

    if (r < 0)
        return r;
    lend(img, tensors);
    r = start_over(img, err);
    img->planned = r == 0;
    return r;
}

uint64_t wr_image_size(const struct wr_image *img)
{
    return img->head.data_offset + img->head.data_bytes;
}

uint64_t wr_image_data_offset(const struct wr_image *img)
{
    return img->head.data_offset;
}

uint8_t *wr_image_bytes(struct wr_image *img)
{
    return img->bytes;
}

int wr_image_finish(struct wr_image *img, const uint32_t *crcs, size_t count,
                    weir_err *err)
{
    char digits[9];

    if (!img->planned || count != chunks_of(img->head.data_bytes))
        return wr_fail(err, WEIR_ESTATE, "snapshot: %zu checksums do not fit",
                       count);
    for (size_t i = 0; i < count; i++) {
        snprintf(digits, sizeof(digits), "%08" PRIx32, crcs[i]);
        memcpy(img->crc_text + 8 * i, digits, 8);
    }
    return wr_st_print(&img->head, img->bytes, err);
}

const uint8_t *wr_image_part(const struct wr_image *img, uint64_t offset,
                             uint64_t *len)
{
    uint64_t base = img->head.data_offset, at = offset - base;
    const struct wr_stretch *x;
    size_t next;

    if (offset < base) {
        *len = WR_MIN(*len, base - offset);
        return img->bytes + offset;
    }
    next = lent_behind(img, at);
    if (next == img->lent_count)
        return memory_of(img, at, next);
    x = &img->lent[next];
    if (x->begin > at) {
        *len = WR_MIN(*len, x->begin - at);
        return memory_of(img, at, next);
    }
    *len = WR_MIN(*len, x->end - at);
    return (const uint8_t *)x->at + (at - x->begin);
}

/* --- filling --- */

/* The first planned tensor that ends behind `at`. */
static size_t tensor_at(const struct wr_st_head *h, uint64_t at)
{
    return wr_count_below(h->tensors, sizeof(*h->tensors), h->count,
                          offsetof(struct wr_st_tensor, end), at + 1);
}

static void copy_tensors(const struct wr_image *img, uint64_t at, uint64_t end,
                         uint8_t *to)
{
    const struct wr_st_head *h = &img->head;

    for (size_t i = tensor_at(h, at); at < end; i++) {
        const struct wr_st_tensor *t = &h->tensors[i];
        const uint8_t *from = img->tensors[img->order[i]].data;
        uint64_t n = WR_MIN(t->end, end) - at;

        if (n)
            wr_copy_past(to, from + (at - t->begin), (size_t)n);
        to += n;
        at += n;
    }
}

/* What was not lent of it. */
static void copy_range(const struct wr_image *img, uint64_t at, uint64_t end)
{
    for (size_t i = lent_behind(img, at); at < end; i++) {
        bool last = i == img->lent_count;
        uint64_t stop = last ? end : WR_MIN(img->lent[i].begin, end);

        if (at < stop)
            copy_tensors(img, at, stop, memory_of(img, at, i));
        at = last ? end : img->lent[i].end;
    }
}

/* Piece k is there. Wakes who waits when it has what it needs, not before. */
static void piece_done(struct wr_image *img, uint64_t k, uint64_t pieces)
{
    pthread_mutex_lock(&img->lock);
    img->done[k] = 1;
    while (img->done_next < pieces && img->done[img->done_next])
        img->done_next++;
    img->ready = WR_MIN(img->done_next * img->piece, img->head.data_bytes);
    if (img->wanted && img->ready >= img->wanted) {
        img->wanted = 0;
        pthread_cond_broadcast(&img->grown);
    }
    pthread_mutex_unlock(&img->lock);
}

/* One of the threads: pieces in rising order, as they come. */
static void fill_some(void *arg, size_t part, unsigned thread)
{
    struct wr_image *img = arg;
    uint64_t bytes = img->head.data_bytes;
    uint64_t pieces = (bytes + img->piece - 1) / img->piece, k;

    while ((k = atomic_fetch_add(&img->next, 1)) < pieces) {
        uint64_t at = k * img->piece;

        copy_range(img, at, WR_MIN(at + img->piece, bytes));
        piece_done(img, k, pieces);
    }
}

void wr_image_fill(struct wr_image *img, const weir_tensor *tensors, bool eager)
{
    /* A core is left to the writer that follows: copying is twice as fast as
     * any disk here, and a writer that waits for its turn is not. */
    unsigned threads = wr_pool_threads(img->pool) - eager;

    img->tensors = tensors;
    img->piece = eager ? EAGER_PIECE : LARGE_PIECE;
    img->next = 0;
    if (threads < 2 || img->head.data_bytes - lent_bytes(img) <= img->piece)
        fill_some(img, 0, 0); /* not worth waking anyone */
    else
        wr_pool_run(img->pool, threads, fill_some, img);
    img->tensors = NULL;
}

void wr_image_wait(struct wr_image *img, uint64_t bytes)
{
    pthread_mutex_lock(&img->lock);
    while (img->ready < bytes) {
        if (!img->wanted || bytes < img->wanted)
            img->wanted = bytes;
        pthread_cond_wait(&img->grown, &img->lock);
    }
    pthread_mutex_unlock(&img->lock);
}
