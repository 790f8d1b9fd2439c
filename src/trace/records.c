/* records.c - what a trace file has besides events, as bytes and back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/records.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "trace/counts.h"

#define BLOCK ((size_t)1 << 16) /* of kept texts */

/* --- texts that stay --- */

const char *wr_trace_keep(struct wr_trace_keep *k, const char *s, size_t len)
{
    char *to;

    if (!k->count || k->size - k->used < len + 1) {
        size_t size = WR_MAX(BLOCK, len + 1);

        if (!wr_grow(&k->blocks, &k->cap, k->count + 1, sizeof(*k->blocks)) ||
            !(to = malloc(size)))
            return NULL;
        k->blocks[k->count++] = to;
        k->size = size;
        k->used = 0;
    }
    to = k->blocks[k->count - 1] + k->used;
    if (len)
        memcpy(to, s, len);
    to[len] = '\0';
    k->used += len + 1;
    return to;
}

void wr_trace_keep_done(struct wr_trace_keep *k)
{
    for (size_t i = 0; i < k->count; i++)
        free(k->blocks[i]);
    free(k->blocks);
    *k = (struct wr_trace_keep){0};
}

/* A number that may be unknown takes one byte then. */
static uint64_t plus_one(uint64_t v)
{
    return v + 1; /* UINT64_MAX becomes 0 */
}

/* Copies a text of the file; *ret stays NULL for none. Bytes behind a NUL are
 * lost, as they are to everyone who reads a C string. */
static bool take_text(struct wr_packed *p, struct wr_trace_keep *k,
                      const char **ret)
{
    size_t len = 0;
    const char *s = wr_packed_text(p, WR_TRACE_TEXT_MAX, &len);

    *ret = NULL;
    if (!s)
        return true;
    *ret = wr_trace_keep(k, s, len);
    return *ret != NULL;
}

/* --- writing: into a scratch, then with its length in front --- */

static void close_record(struct wr_pack *p, struct wr_pack *body)
{
    wr_pack_number(p, body->len);
    wr_pack_bytes(p, body->bytes, body->len);
    p->failed |= body->failed;
    free(body->bytes);
}

/* No trace holds the query strings of URLs, whoever writes it: they are keys to
 * what the URL names. */
static void pack_command(struct wr_pack *p, const char *s)
{
    char *copy = s ? strdup(s) : NULL;

    if (copy)
        wr_text_drop_queries(copy);
    p->failed |= s && !copy;
    wr_pack_text(p, copy);
    free(copy);
}

void wr_trace_put_info(struct wr_pack *p, const struct wr_trace_info *info)
{
    struct wr_pack b = {0};

    wr_pack_number(&b, info->start_wall_ns);
    wr_pack_number(&b, info->end_ns);
    wr_pack_number(&b, info->cores);
    wr_pack_number(&b, info->memory_bytes);
    wr_pack_number(&b, info->available_bytes);
    wr_pack_number(&b, info->anonymous | (unsigned)info->complete << 1 |
                           (unsigned)info->by_kernel << 2);
    pack_command(&b, info->command);
    wr_pack_text(&b, info->host);
    wr_pack_text(&b, info->kernel);
    wr_pack_text(&b, info->weir);
    wr_pack_text(&b, info->mounts);
    wr_pack_text(&b, info->monitor);
    wr_pack_number(&b, info->lost_records);
    wr_pack_number(&b, info->merged);
    close_record(p, &b);
}

/* Many libraries first ask whether a URL is a file. It is in the trace as a path
 * then ("FOLDER/https:/host/data?..."): bytes up to the query. */
static size_t without_query(const struct wr_trace_named *n)
{
    const char *url = memmem(n->path, n->path_len, ":/", 2);
    const char *query = url ? memchr(url, '?',
                                     n->path_len - (size_t)(url - n->path))
                            : NULL;

    return query ? (size_t)(query - n->path) : n->path_len;
}

void wr_trace_put_name(struct wr_pack *p, const struct wr_trace_named *n)
{
    size_t len = without_query(n);
    struct wr_pack b = {0};

    wr_pack_number(&b, n->number);
    wr_pack_number(&b, (unsigned)n->kind);
    wr_pack_number(&b, plus_one(n->size));
    wr_pack_number(&b, len + 1);
    wr_pack_bytes(&b, n->path, len);
    close_record(p, &b);
}

void wr_trace_put_resident(struct wr_pack *p, const struct wr_trace_named *n)
{
    struct wr_pack b = {0};

    wr_pack_number(&b, n->number);
    wr_pack_number(&b, plus_one(n->resident));
    wr_pack_number(&b, plus_one(n->size));
    close_record(p, &b);
}

void wr_trace_put_process(struct wr_pack *p, uint32_t number,
                          const struct wr_trace_process *proc)
{
    struct wr_pack b = {0};

    wr_pack_number(&b, number);
    wr_pack_number(&b, wr_zigzag(proc->pid));
    wr_pack_number(&b, wr_zigzag(proc->parent));
    wr_pack_number(&b, wr_zigzag(proc->rank));
    wr_pack_number(&b, wr_zigzag(proc->world));
    wr_pack_number(&b, proc->start_ns);
    wr_pack_number(&b, plus_one(proc->end_ns));
    wr_pack_number(&b, wr_zigzag(proc->status));
    wr_pack_number(&b, proc->threads);
    wr_pack_text(&b, proc->program);
    pack_command(&b, proc->argv);
    wr_pack_text(&b, proc->cwd);
    wr_pack_text(&b, proc->host);
    wr_pack_number(&b, plus_one(proc->rchar));
    wr_pack_number(&b, plus_one(proc->wchar));
    wr_pack_number(&b, plus_one(proc->read_bytes));
    wr_pack_number(&b, plus_one(proc->write_bytes));
    wr_pack_number(&b, plus_one(proc->major_faults));
    wr_pack_number(&b, proc->lost_events);
    close_record(p, &b);
}

void wr_trace_put_counts(struct wr_pack *p, const struct wr_trace_counts *c)
{
    struct wr_pack b = {0};
    uint64_t v[WR_COUNTS_NUMBER];

    memcpy(v, (const char *)c + WR_COUNTS_FIRST, sizeof(v));
    wr_pack_number(&b, c->process);
    wr_pack_number(&b, c->file);
    for (size_t k = 0; k < WR_COUNTS_NUMBER; k++)
        wr_pack_number(&b, v[k]);
    close_record(p, &b);
}

/* --- reading --- */

static struct wr_packed open_record(struct wr_packed *p)
{
    return wr_packed_part(p, wr_packed_number(p));
}

static int32_t take_int(struct wr_packed *b)
{
    return (int32_t)wr_unzigzag(wr_packed_number(b));
}

static uint64_t take_maybe(struct wr_packed *b)
{
    return wr_packed_number(b) - 1; /* 0 is UINT64_MAX: not known */
}

static uint32_t take_u32(struct wr_packed *b)
{
    uint64_t v = wr_packed_number(b);

    b->bad |= v > UINT32_MAX;
    return (uint32_t)v;
}

bool wr_trace_take_info(struct wr_packed *p, struct wr_trace_keep *k,
                        struct wr_trace_info *ret, bool *ret_lack)
{
    struct wr_packed b = open_record(p);
    struct wr_trace_info i = {.start_wall_ns = wr_packed_number(&b)};
    const char **const texts[] = {&i.command, &i.host,   &i.kernel,
                                  &i.weir,    &i.mounts, &i.monitor};
    uint64_t bits;

    i.end_ns = wr_packed_number(&b);
    i.cores = take_u32(&b);
    i.memory_bytes = wr_packed_number(&b);
    i.available_bytes = wr_packed_number(&b);
    bits = wr_packed_number(&b);
    i.anonymous = bits & 1;
    i.complete = bits & 2;
    for (size_t n = 0; n < WR_ARRAY_LEN(texts); n++)
        *ret_lack |= !take_text(&b, k, texts[n]);
    i.by_kernel = bits & 4;
    if (b.at < b.end) { /* earlier ones end here */
        i.lost_records = wr_packed_number(&b);
        i.merged = take_u32(&b);
    }
    if (b.bad || *ret_lack)
        return false;
    *ret = i;
    return true;
}

bool wr_trace_take_name(struct wr_packed *p, struct wr_trace_named *ret)
{
    struct wr_packed b = open_record(p);
    struct wr_trace_named n = {.number = take_u32(&b), .resident = UINT64_MAX};

    n.kind = (int)take_u32(&b);
    n.size = take_maybe(&b);
    n.path = wr_packed_text(&b, WR_TRACE_PATH_MAX, &n.path_len);
    if (b.bad || !n.path || n.kind < 0 || n.kind > WR_TRACE_STREAM)
        return false;
    *ret = n;
    return true;
}

bool wr_trace_take_resident(struct wr_packed *p, struct wr_trace_named *ret)
{
    struct wr_packed b = open_record(p);
    struct wr_trace_named n = {.number = take_u32(&b)};

    n.resident = take_maybe(&b);
    n.size = take_maybe(&b);
    if (b.bad)
        return false;
    *ret = n;
    return true;
}

static void take_process_numbers(struct wr_packed *b,
                                 struct wr_trace_process *t)
{
    t->pid = take_int(b);
    t->parent = take_int(b);
    t->rank = take_int(b);
    t->world = take_int(b);
    t->start_ns = wr_packed_number(b);
    t->end_ns = take_maybe(b);
    t->status = take_int(b);
    t->threads = take_u32(b);
}

bool wr_trace_take_process(struct wr_packed *p, struct wr_trace_keep *k,
                           uint32_t *ret_number, struct wr_trace_process *ret,
                           bool *ret_lack)
{
    struct wr_packed b = open_record(p);
    struct wr_trace_process t = {0};
    const char **const texts[] = {&t.program, &t.argv, &t.cwd, &t.host};
    uint32_t number = take_u32(&b);

    take_process_numbers(&b, &t);
    for (size_t n = 0; n < WR_ARRAY_LEN(texts); n++)
        *ret_lack |= !take_text(&b, k, texts[n]);
    t.rchar = take_maybe(&b);
    t.wchar = take_maybe(&b);
    t.read_bytes = take_maybe(&b);
    t.write_bytes = take_maybe(&b);
    t.major_faults = take_maybe(&b);
    t.lost_events = wr_packed_number(&b);
    if (b.bad || *ret_lack)
        return false;
    *ret_number = number;
    *ret = t;
    return true;
}

bool wr_trace_take_counts(struct wr_packed *p, struct wr_trace_counts *ret)
{
    struct wr_packed b = open_record(p);
    struct wr_trace_counts c = {.process = take_u32(&b)};
    uint64_t v[WR_COUNTS_NUMBER];

    c.file = take_u32(&b);
    for (size_t k = 0; k < WR_COUNTS_NUMBER; k++)
        v[k] = wr_packed_number(&b);
    if (b.bad)
        return false;
    memcpy((char *)&c + WR_COUNTS_FIRST, v, sizeof(v));
    *ret = c;
    return true;
}
