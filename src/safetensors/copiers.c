/* copiers.c - threads that do one thing together, again and again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "safetensors/copiers.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"

#define THREADS_MAX 64u

struct wr_copiers {
    pthread_t threads[THREADS_MAX]; /* beside the caller's */
    unsigned count;

    pthread_mutex_t lock; /* guards all below; a leaf lock */
    pthread_cond_t work, done;
    void (*fn)(void *arg);
    void *arg;
    unsigned todo;    /* threads that are still to take the job */
    unsigned running; /* threads that are not back from it */
    bool closing;
};

static void *thread_main(void *arg)
{
    struct wr_copiers *c = arg;

    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!c->todo && !c->closing)
            pthread_cond_wait(&c->work, &c->lock);
        if (c->closing)
            break;
        c->todo--;
        pthread_mutex_unlock(&c->lock);
        c->fn(c->arg);
        pthread_mutex_lock(&c->lock);
        if (--c->running == 0)
            pthread_cond_signal(&c->done);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

void wr_copiers_run(struct wr_copiers *c, bool spare, void (*fn)(void *arg),
                    void *arg)
{
    unsigned helpers = c->count - (spare && c->count);

    if (!helpers) {
        fn(arg);
        return;
    }
    pthread_mutex_lock(&c->lock);
    c->fn = fn;
    c->arg = arg;
    c->todo = c->running = helpers;
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
    fn(arg);
    pthread_mutex_lock(&c->lock);
    while (c->running)
        pthread_cond_wait(&c->done, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

void wr_copiers_free(struct wr_copiers *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->closing = true;
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
    for (unsigned i = 0; i < c->count; i++)
        pthread_join(c->threads[i], NULL);
    pthread_cond_destroy(&c->work);
    pthread_cond_destroy(&c->done);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

int wr_copiers_new(unsigned threads, struct wr_copiers **ret, weir_err *err)
{
    struct wr_copiers *c = calloc(1, sizeof(*c));

    if (!c)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->work, NULL);
    pthread_cond_init(&c->done, NULL);
    if (!threads)
        threads = wr_cpu_count();
    threads = WR_MIN(threads, THREADS_MAX);
    while (c->count + 1 < threads) {
        int r = wr_thread_start(&c->threads[c->count], "weir-copy", thread_main,
                                c, err);

        if (r < 0) {
            wr_copiers_free(c);
            return r;
        }
        c->count++;
    }
    *ret = c;
    return 0;
}

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
