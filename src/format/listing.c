/* listing.c - the entries of one folder, sorted by name.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/listing.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

#define TICK_EVERY 1024 /* entries */

struct collect {
    struct wr_listing *listing;             /* borrowed */
    const struct wr_listing_filter *filter; /* borrowed */
    uint64_t seen;
    bool stop; /* the callback ended it */
};

bool wr_listing_is_ignored(const struct wr_entry *e)
{
    return e->kind == WR_KIND_FILE && wr_ignored_counts(e->name);
}

static int collect_entry(void *arg, const struct wr_entry *e)
{
    struct collect *c = arg;
    struct wr_listing *l = c->listing;
    size_t len = strlen(e->name) + 1;
    int r = 0;

    if (++c->seen % TICK_EVERY == 0 && c->filter->tick)
        r = c->filter->tick(c->filter->arg);
    if (r == 0 && c->filter->wanted && !c->filter->wanted(e)) {
        if (!c->filter->ignored || !c->filter->ignored(e) ||
            wr_ignored_add(&l->ignored, e->name))
            return 0;
        r = WEIR_ENOMEM;
    }
    if (r == 0 &&
        (!wr_grow(&l->names, &l->names_cap, l->names_len + len, 1) ||
         !wr_grow(&l->entries, &l->cap, l->count + 1, sizeof(*l->entries))))
        r = WEIR_ENOMEM;
    if (r != 0) {
        c->stop = true;
        return r;
    }
    memcpy(l->names + l->names_len, e->name, len);
    l->entries[l->count++] = (struct wr_listed){.name = l->names_len,
                                                .size = e->size,
                                                .identity = e->identity,
                                                .kind = e->kind,
                                                .link = e->link};
    l->names_len += len;
    return 0;
}

static size_t common_prefix(const char *a, const char *b, size_t max)
{
    size_t n = 0;

    while (n < max && a[n] && a[n] == b[n])
        n++;
    return n;
}

/* The eight bytes behind the prefix that all names share, most significant
 * first: comparing these decides nearly always. */
static uint64_t sort_key(const char *text)
{
    uint64_t key = 0;

    for (unsigned i = 0; i < 8; i++) {
        key = key << 8 | (uint8_t)*text;
        if (*text)
            text++;
    }
    return key;
}

static void set_keys(struct wr_listing *l)
{
    const char *first = l->names + l->entries[0].name;
    size_t prefix = strlen(first);

    for (size_t k = 1; k < l->count; k++)
        prefix = common_prefix(first, l->names + l->entries[k].name, prefix);
    for (size_t k = 0; k < l->count; k++)
        l->entries[k].key = sort_key(l->names + l->entries[k].name + prefix);
}

static int compare(const void *a, const void *b, void *names)
{
    const struct wr_listed *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return strcmp((const char *)names + x->name, (const char *)names + y->name);
}

int wr_listing_read(struct wr_listing *l, struct wr_store *st, const char *path,
                    const struct wr_listing_filter *filter, bool *ret_stop,
                    weir_err *err)
{
    struct collect c = {.listing = l, .filter = filter};
    int r = st->ops->list(st, path, collect_entry, &c, err);

    *ret_stop = c.stop;
    if (c.stop && r == WEIR_ENOMEM)
        wr_fail(err, r, "'%s': out of memory while listing", path);
    if (l->count) {
        set_keys(l);
        qsort_r(l->entries, l->count, sizeof(*l->entries), compare, l->names);
    }
    return r;
}

const char *wr_listing_name(const struct wr_listing *l, size_t k)
{
    return l->names + l->entries[k].name;
}

size_t wr_listing_find(const struct wr_listing *l, const char *name)
{
    size_t from = 0, to = l->count;

    while (from < to) {
        size_t mid = from + (to - from) / 2;
        int c = strcmp(wr_listing_name(l, mid), name);

        if (c == 0)
            return mid;
        if (c < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return l->count;
}

void wr_listing_done(struct wr_listing *l)
{
    free(l->names);
    free(l->entries);
    wr_ignored_done(&l->ignored);
    memset(l, 0, sizeof(*l));
}
