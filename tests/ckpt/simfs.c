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
    struct sim_page *p = sim_alloc(1, sizeof(*p) + sector);
    uint64_t h = sector, word;

    p->refs = 1;
    if (bytes)
        memcpy(p->bytes, bytes, sector);
    for (unsigned i = 0; i < sector; i += sizeof(word)) {
        memcpy(&word, p->bytes + i, sizeof(word));
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    p->hash = wr_mix64(h);
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

/* --- nodes --- */

static void drop_pages(struct sim_node *n, size_t keep)
{
    for (size_t i = keep; i < n->page_count; i++)
        sim_page_unref(n->pages[i]);
    n->page_count = WR_MIN(n->page_count, keep);
}

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
        const struct sim_node *a = &from->nodes[i];
        struct sim_node *b = &ret->nodes[i];

        *b = *a;
        b->locked_by = NULL;
        b->pages = NULL;
        if (!a->page_count)
            continue;
        b->pages = sim_alloc(a->page_count, sizeof(struct sim_page *));
        for (size_t k = 0; k < a->page_count; k++)
            b->pages[k] = sim_page_ref(a->pages[k]);
    }
}

void sim_fs_done(struct sim_fs *fs)
{
    for (size_t i = 0; i < fs->count; i++) {
        drop_pages(&fs->nodes[i], 0);
        free(fs->nodes[i].pages);
    }
    free(fs->nodes);
    *fs = (struct sim_fs){.sector = fs->sector};
}

void sim_fs_forget(struct sim_fs *fs, uint32_t node)
{
    drop_pages(&fs->nodes[node], 0);
}

uint32_t sim_fs_at(const struct sim_fs *fs, uint32_t parent, const char *name,
                   size_t name_len)
{
    for (size_t i = 0; i < fs->count; i++) {
        const struct sim_node *n = &fs->nodes[i];

        if (n->parent == parent && strlen(n->name) == name_len &&
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

static void put_page(struct sim_node *n, uint64_t at, struct sim_page *page)
{
    if (at >= n->page_count) {
        n->pages = realloc(n->pages, (at + 1) * sizeof(struct sim_page *));
        if (!n->pages)
            abort();
        for (size_t i = n->page_count; i <= at; i++)
            n->pages[i] = NULL;
        n->page_count = at + 1;
    }
    sim_page_unref(n->pages[at]);
    n->pages[at] = page;
}

/* Bytes behind a cut are zeros when the file grows again. */
static void cut(struct sim_fs *fs, struct sim_node *n, uint64_t size)
{
    uint64_t last = size / fs->sector, rest = size % fs->sector;
    struct sim_page *whole, *zeroed;
    uint8_t *bytes;

    drop_pages(n, last + (rest ? 1 : 0));
    if (!rest || n->page_count <= last || !n->pages[last])
        return;
    whole = n->pages[last];
    bytes = sim_alloc(1, fs->sector);
    memcpy(bytes, whole->bytes, rest);
    zeroed = sim_page_new(fs->sector, bytes);
    free(bytes);
    put_page(n, last, zeroed);
}

static void place(struct sim_fs *fs, const struct sim_op *op)
{
    uint32_t old = sim_fs_at(fs, op->to, op->name, strlen(op->name));
    struct sim_node *n = &fs->nodes[op->node];

    if (old != SIM_NONE && old != op->node)
        fs->nodes[old].parent = SIM_NONE;
    n->parent = op->to;
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
        put_page(n, op->at, sim_page_ref(op->page));
        break;
    case SIM_SIZE:
        if (op->at < n->size)
            cut(fs, n, op->at);
        n->size = op->at;
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

static uint64_t hash_file(const struct sim_fs *fs, const struct sim_node *n)
{
    uint64_t h = wr_mix64(n->size + 1);
    size_t end = (size_t)((n->size + fs->sector - 1) / fs->sector);

    for (size_t i = 0; i < n->page_count && i < end; i++)
        if (n->pages[i])
            h += wr_mix64(n->pages[i]->hash + i);
    return h;
}

static uint64_t hash_below(const struct sim_fs *fs, uint32_t dir)
{
    uint64_t sum = 1, h;

    for (size_t i = 0; i < fs->count; i++) {
        const struct sim_node *n = &fs->nodes[i];

        if (n->parent != dir)
            continue;
        h = n->kind == WR_KIND_DIR ? hash_below(fs, (uint32_t)i)
                                   : hash_file(fs, n);
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
