/* shard_reader.c - a shard as one stream of bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/shard_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "codec/inflate.h"
#include "format/tarmember.h"
#include "format/tfrecord.h"

#define BUFFER 65536u
#define LITTLE 4096u /* read where the samples are big: a header or two */

struct wr_shard_reader {
    struct wr_object *object; /* owned */
    struct wr_stat stat;
    const atomic_bool *stop; /* borrowed; NULL: nobody stops it */
    struct wr_inflate *z;    /* owned; NULL: plain */
    uint8_t *packed;         /* owned, BUFFER bytes: what is inflated next */
    uint64_t packed_at; /* of `z`: offset of the next piece in the object */
    uint64_t pos;       /* of the next read in the stream */
    uint64_t hop;       /* plain: bytes skipped before pos */
    uint64_t window_at; /* where the window starts in the stream */
    size_t window_len;
    uint8_t window[BUFFER]; /* a part of the stream */
};

void wr_shard_reader_watch(struct wr_shard_reader *r, const atomic_bool *stop)
{
    r->stop = stop;
}

bool wr_shard_reader_is_packed(const struct wr_shard_reader *r)
{
    return r->z != NULL;
}

const struct wr_stat *wr_shard_reader_stat(const struct wr_shard_reader *r)
{
    return &r->stat;
}

uint64_t wr_shard_reader_tell(const struct wr_shard_reader *r)
{
    return r->pos;
}

/* Hands the inflater its next piece; 0 at the end of the object. */
static int64_t feed(struct wr_shard_reader *r, weir_err *err)
{
    int64_t n = wr_object_read_all(r->object, r->packed, BUFFER, r->packed_at,
                                   err);

    if (n == 0 && !wr_inflate_is_done(r->z))
        return wr_fail(err, WEIR_EFORMAT,
                       "%s: truncated: cut off after %" PRIu64 " bytes",
                       wr_inflate_name(r->z), r->packed_at);
    if (n > 0) {
        wr_inflate_feed(r->z, r->packed, (size_t)n);
        r->packed_at += (uint64_t)n;
    }
    return n;
}

/* The window behind the one that is there, which has been used up. */
static int64_t fill_inflated(struct wr_shard_reader *r, weir_err *err)
{
    r->window_at += r->window_len;
    r->window_len = 0;
    for (;;) {
        int64_t n = wr_inflate_read(r->z, r->window, BUFFER, err);

        if (n > 0)
            r->window_len = (size_t)n;
        if (n != 0)
            return n;
        n = feed(r, err);
        if (n <= 0)
            return n;
    }
}

/* A window at pos. Where samples lie far apart, reading what lies between
 * their headers would be reading everything. */
static int64_t fill_plain(struct wr_shard_reader *r, weir_err *err)
{
    size_t want = r->hop > BUFFER / 4 ? LITTLE : BUFFER;
    int64_t n;

    r->window_at = r->pos;
    r->window_len = 0;
    if (r->pos >= r->stat.size)
        return 0;
    n = wr_object_read_all(
        r->object, r->window,
        (size_t)WR_MIN((uint64_t)want, r->stat.size - r->pos), r->pos, err);
    if (n > 0)
        r->window_len = (size_t)n;
    return n;
}

/* Bytes that the window holds at pos; 0 at the end of the stream. */
static int64_t ahead(struct wr_shard_reader *r, weir_err *err)
{
    if (r->pos - r->window_at >= r->window_len) {
        int64_t n;

        if (r->stop && atomic_load(r->stop))
            return wr_fail(err, WEIR_ECANCELED, "canceled while indexing");
        n = r->z ? fill_inflated(r, err) : fill_plain(r, err);
        if (n <= 0)
            return n;
    }
    return (int64_t)(r->window_len - (r->pos - r->window_at));
}

/* The next `n` bytes into `buf`, or nowhere if that is NULL; fewer at the end. */
static int64_t pass(struct wr_shard_reader *r, uint8_t *buf, uint64_t n,
                    weir_err *err)
{
    uint64_t done = 0;

    while (done < n) {
        int64_t have = ahead(r, err);
        size_t part;

        if (have < 0)
            return have;
        if (have == 0)
            break;
        part = (size_t)WR_MIN((uint64_t)have, n - done);
        if (buf)
            memcpy(buf + done, r->window + (r->pos - r->window_at), part);
        done += part;
        r->pos += part;
        r->hop = 0;
    }
    return (int64_t)done;
}

int64_t wr_shard_reader_read(struct wr_shard_reader *r, void *buf, size_t len,
                             weir_err *err)
{
    return pass(r, buf, len, err);
}

int64_t wr_shard_reader_skip(struct wr_shard_reader *r, uint64_t n,
                             weir_err *err)
{
    if (r->z)
        return pass(r, NULL, n, err);
    n = WR_MIN(n, r->stat.size - WR_MIN(r->pos, r->stat.size));
    r->pos += n;
    r->hop += n;
    return (int64_t)n;
}

/* Whether bytes that may be zlib's inflate to a record, to an archive, or to
 * nothing at all: two bytes alone say little. */
static int check_zlib(const uint8_t *bytes, size_t len, bool *ret,
                      weir_err *err)
{
    uint8_t head[WR_TAR_BLOCK];
    struct wr_inflate *z;
    uint64_t record;
    int64_t n;
    int r = wr_inflate_new(&z, err);

    if (r < 0)
        return r;
    wr_inflate_feed(z, bytes, len);
    n = wr_inflate_read(z, head, sizeof(head), NULL);
    *ret = n == 0 ? wr_inflate_is_done(z)
                  : (n >= WR_TFRECORD_HEADER &&
                     wr_tfrecord_header(head, &record)) ||
                        (n == sizeof(head) && wr_tar_is_head(head));
    wr_inflate_free(z);
    return 0;
}

/* A TFRecord shard whose first record has 559,903 bytes (0x88b1f) starts like
 * gzip; the checksum behind its length says that it is none. */
static int check_packed(const uint8_t *bytes, size_t len, bool *ret,
                        weir_err *err)
{
    uint64_t record;

    *ret = false;
    if (len >= WR_TFRECORD_HEADER && wr_tfrecord_header(bytes, &record))
        return 0;
    *ret = wr_is_gzip(bytes, len);
    return wr_is_zlib(bytes, len) ? check_zlib(bytes, len, ret, err) : 0;
}

/* The first window shows whether it is compressed. */
static int look_inside(struct wr_shard_reader *r, weir_err *err)
{
    int64_t n = ahead(r, err);
    bool packed;
    int e;

    if (n < 0)
        return (int)n;
    e = check_packed(r->window, (size_t)n, &packed, err);
    if (e < 0 || !packed)
        return e;
    r->packed = malloc(BUFFER);
    if (!r->packed)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    e = wr_inflate_new(&r->z, err);
    if (e < 0)
        return e;
    memcpy(r->packed, r->window, (size_t)n);
    wr_inflate_feed(r->z, r->packed, (size_t)n);
    r->packed_at = (uint64_t)n;
    r->window_len = 0;
    return 0;
}

int wr_shard_reader_open(struct wr_shard_reader **ret, struct wr_store *st,
                         const char *path, weir_err *err)
{
    struct wr_shard_reader *r = malloc(sizeof(*r));
    int e;

    if (!r)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    memset(r, 0, offsetof(struct wr_shard_reader, window));
    e = st->ops->stat(st, path, &r->stat, err);
    if (e < 0)
        goto out;
    if (r->stat.kind != WR_KIND_FILE) { /* a pipe would be eaten */
        e = wr_fail(err, WEIR_EINVAL, "'%s': not a file", path);
        goto out;
    }
    e = st->ops->object_open(st, path, WR_OPEN_READ, &r->object, err);
    if (e < 0)
        goto out;
    e = look_inside(r, err);
    if (e < 0)
        goto out;
    *ret = r;
    r = NULL;
out:
    wr_shard_reader_close(r);
    return e;
}

void wr_shard_reader_close(struct wr_shard_reader *r)
{
    if (!r)
        return;
    if (r->object)
        r->object->ops->close(r->object, /* sync= */ false, NULL);
    wr_inflate_free(r->z);
    free(r->packed);
    free(r);
}

int64_t wr_shard_head(struct wr_store *st, const char *path, void *buf,
                      size_t len)
{
    struct wr_shard_reader *r;
    int64_t n = wr_shard_reader_open(&r, st, path, NULL);

    if (n == 0) {
        n = wr_shard_reader_read(r, buf, len, NULL);
        wr_shard_reader_close(r);
    }
    return n > 0 || wr_index_fails((int)n) ? n : 0;
}
