/* simfs.c - files and folders in memory, as the sum of operations.
 * SPDX-License-Identifier: Apache-2.0 */
#include "simfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

void *sim_alloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);

    if (!p) {
        fprintf(stderr, "simulated disk: out of memory\n");
        abort();
    }
    return p;
}

/* --- pages --- */

struct sim_page *sim_page_new(unsigned sector, const void *bytes)
{
    struct sim_page *p = malloc(sizeof(*p) + sector);

    if (!p)
        abort();
    p->refs = 1;
    p->hash = 0;
    if (bytes)
        memcpy(p->bytes, bytes, sector);
    else
        memset(p->bytes, 0, sector);
    return p;
}

struct sim_page *sim_page_ref(struct sim_page *p)
{
    if (p)
        atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
    return p;
}

void sim_page_unref(struct sim_page *p)
{
    if (p && atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) == 1)
        free(p);
}

/* --- what is in a file --- */

static void data_unref(struct sim_data *d)
{
    if (!d || atomic_fetch_sub_explicit(&d->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < d->page_count; i++)
        sim_page_unref(d->pages[i]);
    free(d->pages);
    free(d);
}

/* That of a node, to be changed. */
static struct sim_data *own_data(struct sim_node *n)
{
    struct sim_data *old = n->data, *d;

    if (old && atomic_load_explicit(&old->refs, memory_order_acquire) == 1) {
        old->hash = 0;
        return old;
    }
    d = sim_alloc(1, sizeof(*d));
    d->refs = 1;
    if (old) {
        d->size = old->size;
        d->page_count = old->page_count;
        d->pages = sim_alloc(old->page_count, sizeof(struct sim_page *));
        for (size_t i = 0; i < old->page_count; i++)
            d->pages[i] = sim_page_ref(old->pages[i]);
        data_unref(old);
    }
    n->data = d;
    return d;
}

static void drop_pages(struct sim_data *d, size_t keep)
{
    for (size_t i = keep; i < d->page_count; i++)
        sim_page_unref(d->pages[i]);
    d->page_count = WR_MIN(d->page_count, keep);
}

uint64_t sim_fs_size(const struct sim_fs *fs, uint32_t node)
{
    const struct sim_data *d = fs->nodes[node].data;

    return d ? d->size : 0;
}

const struct sim_page *sim_fs_page(const struct sim_fs *fs, uint32_t node,
                                   uint64_t at)
{
    const struct sim_data *d = fs->nodes[node].data;

    return d && at < d->page_count ? d->pages[at] : NULL;
}

/* --- nodes --- */

void sim_fs_grow(struct sim_fs *fs, size_t count)
{
    if (count <= fs->count)
        return;
    if (!wr_grow(&fs->nodes, &fs->cap, count, sizeof(*fs->nodes)))
        abort();
    for (; fs->count < count; fs->count++) {
        memset(&fs->nodes[fs->count], 0, sizeof(*fs->nodes));
        fs->nodes[fs->count].parent = SIM_NONE;
    }
}

void sim_fs_copy(const struct sim_fs *from, struct sim_fs *ret)
{
    *ret = (struct sim_fs){.sector = from->sector};
    sim_fs_grow(ret, from->count);
    for (size_t i = 0; i < from->count; i++) {
        ret->nodes[i] = from->nodes[i];
        ret->nodes[i].locked_by = NULL;
        if (ret->nodes[i].data)
            atomic_fetch_add_explicit(&ret->nodes[i].data->refs, 1,
                                      memory_order_relaxed);
    }
}

void sim_fs_done(struct sim_fs *fs)
{
    for (size_t i = 0; i < fs->count; i++)
        data_unref(fs->nodes[i].data);
    free(fs->nodes);
    *fs = (struct sim_fs){.sector = fs->sector};
}

void sim_fs_forget(struct sim_fs *fs, uint32_t node)
{
    data_unref(fs->nodes[node].data);
    fs->nodes[node].data = NULL;
}

uint32_t sim_fs_at(const struct sim_fs *fs, uint32_t parent, const char *name,
                   size_t name_len)
{
    for (size_t i = 0; i < fs->count; i++) {
        const struct sim_node *n = &fs->nodes[i];

        if (n->parent == parent && n->name_len == name_len &&
            !memcmp(n->name, name, name_len))
            return (uint32_t)i;
    }
    return SIM_NONE;
}

bool sim_fs_is_empty(const struct sim_fs *fs, uint32_t dir)
{
    for (size_t i = 0; i < fs->count; i++)
        if (fs->nodes[i].parent == dir)
            return false;
    return true;
}

/* --- operations --- */

static void put_page(struct sim_data *d, uint64_t at, struct sim_page *page)
{
    if (at >= d->page_count) {
        d->pages = realloc(d->pages, (at + 1) * sizeof(struct sim_page *));
        if (!d->pages)
            abort();
        for (size_t i = d->page_count; i <= at; i++)
            d->pages[i] = NULL;
        d->page_count = at + 1;
    }
    sim_page_unref(d->pages[at]);
    d->pages[at] = page;
}

/* Bytes behind a cut are zeros when the file grows again. */
static void cut(const struct sim_fs *fs, struct sim_data *d, uint64_t size)
{
    uint64_t last = size / fs->sector, rest = size % fs->sector;
    struct sim_page *zeroed;

    drop_pages(d, last + (rest ? 1 : 0));
    if (!rest || d->page_count <= last || !d->pages[last])
        return;
    zeroed = sim_page_new(fs->sector, NULL);
    memcpy(zeroed->bytes, d->pages[last]->bytes, rest);
    put_page(d, last, zeroed);
}

static void resize(const struct sim_fs *fs, struct sim_data *d, uint64_t size)
{
    if (size < d->size)
        cut(fs, d, size);
    d->size = size;
}

static void place(struct sim_fs *fs, const struct sim_op *op)
{
    uint32_t old = sim_fs_at(fs, op->to, op->name, strlen(op->name));
    struct sim_node *n = &fs->nodes[op->node];

    if (old != SIM_NONE && old != op->node) {
        fs->nodes[old].parent = op->swaps ? n->parent : SIM_NONE;
        fs->nodes[old].name_len = n->name_len;
        memcpy(fs->nodes[old].name, n->name, sizeof(n->name));
    }
    n->parent = op->to;
    n->name_len = (uint32_t)strlen(op->name);
    memcpy(n->name, op->name, sizeof(n->name));
}

void sim_fs_apply(struct sim_fs *fs, const struct sim_op *op)
{
    struct sim_node *n;

    sim_fs_grow(fs, (size_t)op->node + 1);
    n = &fs->nodes[op->node];
    n->kind = op->kind;
    switch (op->what) {
    case SIM_WRITE:
        put_page(own_data(n), op->at, sim_page_ref(op->page));
        break;
    case SIM_SIZE:
        resize(fs, own_data(n), op->at);
        break;
    case SIM_PLACE:
        place(fs, op);
        break;
    case SIM_GONE: /* of a name; under another one it stays */
        if (n->parent == op->to && !strcmp(n->name, op->name))
            n->parent = SIM_NONE;
        break;
    case SIM_SYNC_FILE:
    case SIM_SYNC_DIR:
    case SIM_SYNC_BAD:
        break;
    }
}

/* --- hash --- */

/* None is 0. */
static uint64_t hash_page(const struct sim_fs *fs, struct sim_page *p)
{
    uint64_t h = fs->sector, word;

    if (p->hash)
        return p->hash;
    for (unsigned i = 0; i < fs->sector; i += sizeof(word)) {
        memcpy(&word, p->bytes + i, sizeof(word));
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    p->hash = wr_mix64(h) | 1;
    return p->hash;
}

static uint64_t hash_file(const struct sim_fs *fs, struct sim_data *d)
{
    uint64_t h = wr_mix64(d ? d->size + 1 : 1), end;

    if (!d || d->hash)
        return d ? d->hash : h;
    end = (d->size + fs->sector - 1) / fs->sector;
    for (size_t i = 0; i < d->page_count && i < end; i++)
        if (d->pages[i])
            h += wr_mix64(hash_page(fs, d->pages[i]) + i);
    d->hash = h + !h;
    return d->hash;
}

static uint64_t hash_below(const struct sim_fs *fs, uint32_t dir)
{
    uint64_t sum = 1, h;

    for (size_t i = 0; i < fs->count; i++) {
        const struct sim_node *n = &fs->nodes[i];

        if (n->parent != dir)
            continue;
        h = n->kind == WR_KIND_DIR ? hash_below(fs, (uint32_t)i)
                                   : hash_file(fs, n->data);
        for (const char *p = n->name; *p; p++)
            h = (h ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
        sum += wr_mix64(h);
    }
    return sum;
}

uint64_t sim_fs_hash(const struct sim_fs *fs)
{
    return hash_below(fs, SIM_ROOT);
}

uint64_t sim_fs_hash_root(const struct sim_fs *fs, const char *root)
{
    uint32_t dir = sim_fs_at(fs, SIM_ROOT, root, strlen(root));

    return dir == SIM_NONE ? 0 : hash_below(fs, dir);
}
