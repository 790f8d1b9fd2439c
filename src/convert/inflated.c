/* inflated.c - packed objects, whole in memory while samples are taken.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/inflated.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "codec/inflate.h"
#include "format/shard_reader.h"
#include "format/unit_read.h"

int wr_inflated_init(struct wr_inflated *z, const weir_dataset *ds,
                     weir_err *err)
{
    *z = (struct wr_inflated){.ds = ds};
    if (pthread_mutex_init(&z->lock, NULL))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    pthread_cond_init(&z->ready, NULL);
    return 0;
}

static void object_free(struct wr_inflated *z, size_t k)
{
    struct wr_inflated_object *o = z->list[k];

    z->bytes -= o->len;
    free(o->bytes);
    free(o);
    z->list[k] = z->list[--z->count];
}

void wr_inflated_done(struct wr_inflated *z)
{
    while (z->count)
        object_free(z, z->count - 1);
    free(z->list);
    pthread_cond_destroy(&z->ready);
    pthread_mutex_destroy(&z->lock);
}

int wr_inflated_check(const weir_dataset *ds, bool shuffle, weir_err *err)
{
    uint64_t sum = 0;

    for (uint64_t k = 0; k < wr_index_unit_count(ds->index); k++)
        sum += wr_index_unit(ds->index, k)->inflated;
    if (shuffle && sum > WR_INFLATED_BYTES)
        return wr_fail(err, WEIR_ENOTSUP,
                       "gzip shards that inflate to %" PRIu64
                       " bytes cannot be read in any order: convert them in "
                       "sequence first, then shuffle the result",
                       sum);
    return 0;
}

/* Makes room for what `o` will take, as far as nobody uses it. */
static void evict(struct wr_inflated *z)
{
    while (z->bytes > WR_INFLATED_BYTES) {
        size_t oldest = z->count;

        for (size_t k = 0; k < z->count; k++)
            if (!z->list[k]->users &&
                (oldest == z->count ||
                 z->list[k]->used < z->list[oldest]->used))
                oldest = k;
        if (oldest == z->count)
            return;
        object_free(z, oldest);
    }
}

static int inflate_all(const weir_dataset *ds, struct wr_inflated_object *o,
                       weir_err *err)
{
    struct wr_shard_reader *rd = NULL;
    char path[PATH_MAX];
    int64_t n;
    int r;

    if (!wr_unit_is_stream(wr_index_unit(ds->index, o->unit)))
        return wr_unit_read(ds, o->unit, &o->bytes, err);
    if (wr_index_object_path(ds->index,
                             wr_index_unit(ds->index, o->unit)->object, path,
                             sizeof(path)) >= sizeof(path))
        return wr_fail(err, WEIR_ELIMIT, "path too long");
    o->bytes = malloc(o->len + 1);
    if (!o->bytes)
        return wr_fail(err, WEIR_ENOMEM, "no memory for %" PRIu64 " bytes",
                       o->len);
    r = wr_shard_reader_open(&rd, ds->store, path, err);
    if (r == 0) {
        n = wr_shard_reader_read(rd, o->bytes, o->len + 1, err);
        if (n < 0)
            r = (int)n;
        else if ((uint64_t)n != o->len)
            r = wr_fail(err, WEIR_ECHANGED,
                        "does not inflate to the %" PRIu64 " bytes indexed",
                        o->len);
    }
    wr_shard_reader_close(rd);
    if (r < 0) {
        free(o->bytes);
        o->bytes = NULL;
    }
    return r;
}

/* Resources that are short come back when others are done with theirs. */
static void inflate_patiently(const weir_dataset *ds,
                              struct wr_inflated_object *o)
{
    uint64_t since = 0;

    while (wr_err_is_lack(inflate_all(ds, o, &o->failed)) &&
           wr_lack_pause(&since))
        ;
}

static struct wr_inflated_object *find(struct wr_inflated *z, uint64_t unit)
{
    for (size_t k = 0; k < z->count; k++)
        if (z->list[k]->unit == unit)
            return z->list[k];
    return NULL;
}

/* A new entry, in the making; NULL when memory is short. */
static struct wr_inflated_object *add(struct wr_inflated *z, uint64_t unit)
{
    struct wr_inflated_object *o = calloc(1, sizeof(*o));

    if (!o || !wr_grow(&z->list, &z->cap, z->count + 1, sizeof(o))) {
        free(o);
        return NULL;
    }
    o->unit = unit;
    o->len = wr_index_unit(z->ds->index, unit)->inflated;
    z->bytes += o->len;
    evict(z);
    z->list[z->count++] = o;
    return o;
}

int wr_inflated_get(struct wr_inflated *z, uint64_t unit,
                    struct wr_inflated_object **ret, weir_err *err)
{
    struct wr_inflated_object *o;
    bool mine = false;
    int r = 0;

    if (wr_index_unit(z->ds->index, unit)->inflated > WR_INFLATE_MAX)
        return wr_fail(err, WEIR_ELIMIT, "inflates to more than 4 GiB");
    pthread_mutex_lock(&z->lock);
    o = find(z, unit);
    if (!o) {
        o = add(z, unit);
        mine = o != NULL;
    }
    if (!o) {
        pthread_mutex_unlock(&z->lock);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    o->users++;
    o->used = ++z->clock;
    if (mine) {
        pthread_mutex_unlock(&z->lock);
        inflate_patiently(z->ds, o);
        pthread_mutex_lock(&z->lock);
        o->ready = true;
        pthread_cond_broadcast(&z->ready);
    }
    while (!o->ready)
        pthread_cond_wait(&z->ready, &z->lock);
    if (!o->bytes) {
        r = wr_fail(err, o->failed.code, "%s", o->failed.msg);
        o->users--;
    }
    pthread_mutex_unlock(&z->lock);
    if (r == 0)
        *ret = o;
    return r;
}

void wr_inflated_put(struct wr_inflated *z, struct wr_inflated_object *o)
{
    if (!o)
        return;
    pthread_mutex_lock(&z->lock);
    o->users--;
    pthread_mutex_unlock(&z->lock);
}
