/* tarmember.c - the members of a tar archive, one after the other.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A member is its own header with the data behind it, padded to blocks; in
 * front of it there may be headers whose data say its long name or its size
 * (GNU 'L', pax 'x'). Something wrong with those spoils the one member that
 * they belong to; a wrong checksum or size ends the archive, because nothing
 * says then where the next header is. */
#include "format/tarmember.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

struct wr_tar_walk {
    struct wr_shard_reader *in; /* borrowed */
    uint64_t stored_size;       /* 0: not known */
    uint64_t head;              /* where the header read last lies */
    uint64_t left;              /* bytes of data not read yet */
    uint64_t padding;           /* bytes behind them */
    struct wr_tar_extra all;    /* of pax headers for all members */
    struct wr_tar_extra extra;  /* for the next member */
    struct wr_tar_head header;
    bool is_flawed; /* the next member is of no use, for: */
    weir_err flaw;
    char *pax; /* owned: data of a pax header */
    size_t pax_cap;
};

int wr_tar_walk_new(struct wr_tar_walk **ret, struct wr_shard_reader *in,
                    uint64_t stored_size, weir_err *err)
{
    struct wr_tar_walk *w = calloc(1, sizeof(*w));

    if (!w)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    w->in = in;
    w->stored_size = stored_size;
    *ret = w;
    return 0;
}

void wr_tar_walk_free(struct wr_tar_walk *w)
{
    if (!w)
        return;
    free(w->pax);
    free(w);
}

static int fail_cut(const struct wr_tar_walk *w, weir_err *err)
{
    return wr_fail(err, WEIR_EFORMAT,
                   "truncated: the member at offset %" PRIu64
                   " is not all there",
                   w->head);
}

static int skip(struct wr_tar_walk *w, uint64_t n, weir_err *err)
{
    int64_t got = wr_shard_reader_skip(w->in, n, err);

    if (got < 0)
        return (int)got;
    return (uint64_t)got == n ? 0 : fail_cut(w, err);
}

int wr_tar_read(struct wr_tar_walk *w, void *buf, size_t len, weir_err *err)
{
    int64_t got = wr_shard_reader_read(w->in, buf, len, err);

    if (got < 0)
        return (int)got;
    if ((size_t)got != len)
        return fail_cut(w, err);
    w->left -= len;
    return 0;
}

int wr_tar_finish(struct wr_tar_walk *w, weir_err *err)
{
    int r = skip(w, w->left, err);

    if (r == 0)
        w->left = 0;
    return r;
}

/* The member is of no use, but what follows it can be found. */
static void set_flaw(struct wr_tar_walk *w, const weir_err *e)
{
    if (w->is_flawed) /* the first one says it */
        return;
    w->is_flawed = true;
    w->flaw = *e;
    wr_fail_prefix(&w->flaw, e->code, "offset %" PRIu64, w->head);
}

/* Data of `size` bytes follow: do they end inside the archive? */
static int set_data(struct wr_tar_walk *w, uint64_t size, weir_err *err)
{
    uint64_t at = wr_shard_reader_tell(w->in);
    size_t end;

    if (!wr_add_ok(at, size, &end) || end > INT64_MAX ||
        (w->stored_size && end > w->stored_size))
        return wr_fail(
            err, WEIR_EFORMAT,
            "offset %" PRIu64 ": member '%.200s' of %" PRIu64
            " bytes ends beyond the archive: truncated, or a wrong size",
            w->head, w->header.name, size);
    w->left = size;
    w->padding = WR_ALIGN_UP(size, (uint64_t)WR_TAR_BLOCK) - size;
    return 0;
}

/* The next header into w->header; its kind is WR_TAR_END at the end. */
static int read_head(struct wr_tar_walk *w, weir_err *err)
{
    uint8_t block[WR_TAR_BLOCK];
    int64_t got;
    int r;

    r = wr_tar_finish(w, err);
    if (r == 0)
        r = skip(w, w->padding, err);
    if (r < 0)
        return r;
    w->padding = 0;
    w->head = wr_shard_reader_tell(w->in);
    got = wr_shard_reader_read(w->in, block, sizeof(block), err);
    if (got < 0)
        return (int)got;
    if (got == 0)
        return wr_fail(err, WEIR_EFORMAT,
                       "offset %" PRIu64
                       ": no mark of the archive's end: it may be cut off",
                       w->head);
    if (got < (int64_t)sizeof(block))
        return fail_cut(w, err);
    r = wr_tar_head_parse(block, &w->header, err);
    if (r < 0)
        return wr_fail_prefix(err, r, "offset %" PRIu64, w->head);
    return 0;
}

/* GNU: the data are a name, with a NUL behind it. */
static int read_long_name(struct wr_tar_walk *w, weir_err *err)
{
    uint64_t len = w->left;
    weir_err e;
    int r;

    if (len > WR_TAR_MAX_NAME + 1) {
        wr_fail(&e, WEIR_ELIMIT, "a name of %" PRIu64 " bytes (limit %u)", len,
                WR_TAR_MAX_NAME);
        set_flaw(w, &e);
        return 0;
    }
    r = wr_tar_read(w, w->extra.path, WR_MIN(len, WR_TAR_MAX_NAME), err);
    if (r < 0)
        return r;
    w->extra.path[WR_MIN(len, WR_TAR_MAX_NAME)] = '\0';
    w->extra.has_path = w->extra.path[0] != '\0';
    return 0;
}

static int read_pax(struct wr_tar_walk *w, struct wr_tar_extra *to,
                    weir_err *err)
{
    uint64_t len = w->left;
    weir_err e;
    int r;

    if (len > WR_TAR_MAX_PAX) {
        wr_fail(&e, WEIR_ELIMIT, "a pax header of %" PRIu64 " bytes (limit %u)",
                len, WR_TAR_MAX_PAX);
        set_flaw(w, &e);
        return 0;
    }
    if (!wr_grow(&w->pax, &w->pax_cap, len + 1, 1))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_tar_read(w, w->pax, len, err);
    if (r < 0)
        return r;
    if (wr_tar_pax_parse(w->pax, len, to, &e) < 0)
        set_flaw(w, &e);
    return 0;
}

/* GNU: blocks that list holes, in front of the data; then it is passed over
 * as a member that is of no use. */
static int skip_holes(struct wr_tar_walk *w, weir_err *err)
{
    uint8_t block[WR_TAR_BLOCK];
    bool more = w->header.more;

    while (more) {
        int64_t got = wr_shard_reader_read(w->in, block, sizeof(block), err);

        if (got < 0)
            return (int)got;
        if (got < (int64_t)sizeof(block))
            return fail_cut(w, err);
        more = wr_tar_sparse_more(block);
    }
    return 0;
}

/* What a header in front of a member's own says. */
static int read_extra(struct wr_tar_walk *w, weir_err *err)
{
    int r = set_data(w, w->header.size, err);

    if (r < 0)
        return r;
    if (w->header.kind == WR_TAR_LONG_NAME)
        return read_long_name(w, err);
    if (w->header.kind == WR_TAR_PAX)
        return read_pax(w, &w->extra, err);
    if (w->header.kind == WR_TAR_PAX_ALL)
        return read_pax(w, &w->all, err);
    return 0; /* the target of a link */
}

static const char *member_name(const struct wr_tar_walk *w)
{
    const char *name = w->extra.has_path ? w->extra.path
                       : w->all.has_path ? w->all.path
                                         : w->header.name;

    while (name[0] == '.' && name[1] == '/')
        for (name += 2; *name == '/'; name++)
            ;
    return name;
}

static uint64_t member_size(const struct wr_tar_walk *w)
{
    return w->extra.has_size ? w->extra.size
           : w->all.has_size ? w->all.size
                             : w->header.size;
}

/* What was said of a member ends with it. */
static void forget(struct wr_tar_walk *w)
{
    w->extra.has_path = w->extra.has_size = w->extra.sparse = false;
    w->is_flawed = false;
}

/* Fills *ret from the member's own header and those in front; 0: it is no
 * file. */
static int set_member(struct wr_tar_walk *w, struct wr_tar_member *ret,
                      weir_err *err)
{
    uint64_t size = member_size(w);
    const char *name = member_name(w);
    weir_err e;
    int r;

    if (w->header.kind == WR_TAR_SPARSE) {
        r = skip_holes(w, err);
        if (r < 0)
            return r;
    }
    r = set_data(w, size, err);
    if (r < 0)
        return r;
    if (*name && name[strlen(name) - 1] == '/') {
        forget(w); /* V7 has no other folders */
        return 0;
    }
    if (wr_tar_name_check(name, &e) < 0)
        set_flaw(w, &e);
    if (w->header.kind == WR_TAR_SPARSE || w->extra.sparse || w->all.sparse) {
        wr_fail(&e, WEIR_ENOTSUP, "member '%.200s' is sparse", name);
        set_flaw(w, &e);
    }
    *ret = (struct wr_tar_member){.name = name,
                                  .offset = wr_shard_reader_tell(w->in),
                                  .size = size,
                                  .flaw = w->is_flawed ? &w->flaw : NULL};
    return 1;
}

int wr_tar_next(struct wr_tar_walk *w, struct wr_tar_member *ret, weir_err *err)
{
    int r;

    forget(w);
    for (;;) {
        r = read_head(w, err);
        if (r < 0 || w->header.kind == WR_TAR_END)
            return r;
        switch (w->header.kind) {
        case WR_TAR_FILE:
        case WR_TAR_SPARSE:
            r = set_member(w, ret, err);
            break;
        case WR_TAR_EMPTY:
            forget(w);
            break;
        case WR_TAR_OTHER:
            r = set_data(w, member_size(w), err);
            forget(w);
            break;
        default:
            r = read_extra(w, err);
            break;
        }
        if (r != 0)
            return r;
    }
}

const char *wr_tar_ending(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    const char *dot = strchr(base, '.');

    return dot && dot != base ? dot + 1 : NULL;
}
