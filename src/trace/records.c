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
            !(to = malloc(size))) {
            k->lack = true;
            return NULL;
        }
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

/* --- a record, in both directions: each field is passed once --- */

struct wr_trace_record {
    bool writes;
    struct wr_pack body; /* owned; what is written */
    struct wr_packed from;
    struct wr_trace_keep *keep; /* where texts that are read stay */
};

static void pass_number(struct wr_trace_record *r, uint64_t *v)
{
    if (r->writes)
        wr_pack_number(&r->body, *v);
    else
        *v = wr_packed_number(&r->from);
}

/* One that may be unknown: UINT64_MAX takes one byte. */
static void pass_maybe(struct wr_trace_record *r, uint64_t *v)
{
    uint64_t n = *v + 1;

    pass_number(r, &n);
    *v = n - 1;
}

static void pass_u32(struct wr_trace_record *r, uint32_t *v)
{
    uint64_t n = *v;

    pass_number(r, &n);
    r->from.bad |= n > UINT32_MAX;
    *v = (uint32_t)n;
}

static void pass_int(struct wr_trace_record *r, int32_t *v)
{
    uint64_t n = wr_zigzag(*v);

    pass_number(r, &n);
    *v = (int32_t)wr_unzigzag(n);
}

/* Bytes behind a NUL are lost, as they are to everyone who reads a C string. */
static void pass_text(struct wr_trace_record *r, const char **s)
{
    size_t len = 0;

    if (r->writes) {
        wr_pack_text(&r->body, *s);
        return;
    }
    *s = wr_packed_text(&r->from, WR_TRACE_TEXT_MAX, &len);
    if (*s)
        *s = wr_trace_keep(r->keep, *s, len);
}

/* No trace holds the query strings of URLs, whoever writes it: they are keys to
 * what the URL names. */
static void pass_command(struct wr_trace_record *r, const char **s)
{
    char *copy = r->writes && *s ? strdup(*s) : NULL;
    const char *text = copy;

    if (copy)
        wr_text_drop_queries(copy);
    r->body.failed |= r->writes && *s && !copy;
    pass_text(r, r->writes ? &text : s);
    free(copy);
}

static void pass_info(struct wr_trace_record *r, struct wr_trace_info *i)
{
    uint64_t bits = i->anonymous | (unsigned)i->complete << 1 |
                    (unsigned)i->by_kernel << 2;

    pass_number(r, &i->start_wall_ns);
    pass_number(r, &i->end_ns);
    pass_u32(r, &i->cores);
    pass_number(r, &i->memory_bytes);
    pass_number(r, &i->available_bytes);
    pass_number(r, &bits);
    i->anonymous = bits & 1;
    i->complete = bits & 2;
    i->by_kernel = bits & 4;
    pass_command(r, &i->command);
    pass_text(r, &i->host);
    pass_text(r, &i->kernel);
    pass_text(r, &i->weir);
    pass_text(r, &i->mounts);
    pass_text(r, &i->monitor);
    if (!r->writes && r->from.at == r->from.end)
        return; /* earlier ones end here */
    pass_number(r, &i->lost_records);
    pass_u32(r, &i->merged);
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

static void pass_name(struct wr_trace_record *r, struct wr_trace_named *n)
{
    uint32_t kind = (uint32_t)n->kind;

    pass_u32(r, &n->number);
    pass_u32(r, &kind);
    pass_maybe(r, &n->size);
    if (r->writes) {
        size_t len = without_query(n);

        wr_pack_number(&r->body, len + 1);
        wr_pack_bytes(&r->body, n->path, len);
        return;
    }
    n->kind = (int)kind;
    n->path = wr_packed_text(&r->from, WR_TRACE_PATH_MAX, &n->path_len);
    r->from.bad |= !n->path || kind > WR_TRACE_STREAM;
}

static void pass_resident(struct wr_trace_record *r, struct wr_trace_named *n)
{
    pass_u32(r, &n->number);
    pass_maybe(r, &n->resident);
    pass_maybe(r, &n->size);
}

static void pass_process(struct wr_trace_record *r, struct wr_trace_numbered *n)
{
    struct wr_trace_process *t = &n->process;

    pass_u32(r, &n->number);
    pass_int(r, &t->pid);
    pass_int(r, &t->parent);
    pass_int(r, &t->rank);
    pass_int(r, &t->world);
    pass_number(r, &t->start_ns);
    pass_maybe(r, &t->end_ns);
    pass_int(r, &t->status);
    pass_u32(r, &t->threads);
    pass_text(r, &t->program);
    pass_command(r, &t->argv);
    pass_text(r, &t->cwd);
    pass_text(r, &t->host);
    pass_maybe(r, &t->rchar);
    pass_maybe(r, &t->wchar);
    pass_maybe(r, &t->read_bytes);
    pass_maybe(r, &t->write_bytes);
    pass_maybe(r, &t->major_faults);
    pass_number(r, &t->lost_events);
}

static void pass_counts(struct wr_trace_record *r, struct wr_trace_counts *c)
{
    pass_u32(r, &c->process);
    pass_u32(r, &c->file);
    for (size_t k = 0; k < WR_COUNTS_NUMBER; k++)
        pass_number(r, &c->opens + k);
}

/* --- written with its length in front, and read --- */

static void put_record(struct wr_pack *p, struct wr_trace_record *r)
{
    wr_pack_number(p, r->body.len);
    wr_pack_bytes(p, r->body.bytes, r->body.len);
    p->failed |= r->body.failed;
    free(r->body.bytes);
}

static struct wr_trace_record take_record(struct wr_packed *p,
                                          struct wr_trace_keep *k)
{
    return (struct wr_trace_record){
        .from = wr_packed_part(p, wr_packed_number(p)), .keep = k};
}

#define WR_TRACE_RECORD(name, type)                                            \
    void wr_trace_put_##name(struct wr_pack *p, const struct type *from)       \
    {                                                                          \
        struct wr_trace_record r = {.writes = true};                           \
        struct type own = *from;                                               \
                                                                               \
        pass_##name(&r, &own);                                                 \
        put_record(p, &r);                                                     \
    }                                                                          \
    bool wr_trace_take_##name(struct wr_packed *p, struct wr_trace_keep *k,    \
                              struct type *ret)                                \
    {                                                                          \
        struct wr_trace_record r = take_record(p, k);                          \
        struct type own = {0};                                                 \
                                                                               \
        pass_##name(&r, &own);                                                 \
        if (r.from.bad || k->lack)                                             \
            return false;                                                      \
        *ret = own;                                                            \
        return true;                                                           \
    }
WR_TRACE_RECORD(info, wr_trace_info)
WR_TRACE_RECORD(name, wr_trace_named)
WR_TRACE_RECORD(resident, wr_trace_named)
WR_TRACE_RECORD(process, wr_trace_numbered)
WR_TRACE_RECORD(counts, wr_trace_counts)
