/* file_read.c - reads a trace: tables at once, events in one walk.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "base/regular.h"
#include "base/shares.h"
#include "trace/coding.h"
#include "trace/records.h"

/* Numbers may come out of order, by so many: a table is never much larger than
 * what the file has for it. */
#define NAMES_GAP     ((size_t)1 << 16)
#define PROCESSES_GAP ((size_t)1 << 12)

/* A few bytes that claim to be many are no trace. Bytes that may be unpacked,
 * and taken for what is read from them; and events, whose times alone take more
 * than a 16th of a byte each. */
#define ROOM_FREE   (UINT64_C(64) << 20)
#define ROOM_RATIO  64
#define EVENT_FREE  (UINT64_C(16) << 20)
#define EVENT_RATIO 16

/* A chunk that is read again when it is walked over. */
struct kept_chunk {
    uint64_t at; /* of its head, in the file */
    struct wr_chunk chunk;
};

struct wr_trace_file {
    int fd;
    char *path; /* owned: for messages */
    uint64_t size;
    struct wr_trace_info info;
    struct wr_trace_keep texts;
    struct wr_trace_name *names; /* owned */
    size_t name_count, name_cap, names_read;
    struct wr_trace_process *processes; /* owned */
    size_t process_count, process_cap, processes_read;
    struct kept_chunk *chunks; /* owned: of events and counts, in order */
    size_t chunk_count, chunk_cap;
    uint64_t events, counts, unpacked;
    uint64_t taken;        /* of the room: wr_trace_file_take */
    uint8_t *stored, *raw; /* owned: scratch */
    size_t stored_cap, raw_cap;
    bool ended; /* the chunk END was there */
    char damage[200];
};

void wr_trace_file_close(struct wr_trace_file *f)
{
    if (!f)
        return;
    if (f->fd >= 0)
        close(f->fd);
    wr_trace_keep_done(&f->texts);
    free(f->names);
    free(f->processes);
    free(f->chunks);
    free(f->stored);
    free(f->raw);
    free(f->path);
    free(f);
}

static int read_at(struct wr_trace_file *f, uint64_t at, uint8_t *to,
                   size_t len, weir_err *err)
{
    ssize_t n = wr_pread_all(f->fd, to, len, (off_t)at);

    if (n < 0)
        return wr_fail_errno(err, (int)-n, "'%s': cannot read", f->path);
    if ((size_t)n < len)
        return wr_fail(err, WEIR_ECHANGED,
                       "'%s': became shorter while it was read", f->path);
    return 0;
}

static int no_memory(weir_err *err)
{
    return wr_fail(err, WEIR_ENOMEM, "out of memory");
}

/* Reads the stored bytes of a chunk; the head is at f->stored. */
static int read_stored(struct wr_trace_file *f, uint64_t at,
                       const struct wr_chunk *c, weir_err *err)
{
    size_t len = WR_CHUNK_HEAD + (size_t)c->stored;

    if (!wr_grow(&f->stored, &f->stored_cap, len, 1))
        return no_memory(err);
    return read_at(f, at, f->stored, len, err);
}

static int unpack(struct wr_trace_file *f, const struct wr_chunk *c,
                  struct wr_packed *ret, weir_err *err)
{
    int r;

    if (!wr_grow(&f->raw, &f->raw_cap, (size_t)c->raw + 1, 1))
        return no_memory(err);
    r = wr_chunk_unpack(c, f->stored + WR_CHUNK_HEAD, f->raw, err);
    if (r < 0)
        return r;
    *ret = (struct wr_packed){.at = f->raw, .end = f->raw + c->raw};
    return 0;
}

/* --- limits --- */

static uint64_t room_of(const struct wr_trace_file *f)
{
    return ROOM_FREE + ROOM_RATIO * f->size;
}

int wr_trace_file_take(struct wr_trace_file *f, uint64_t bytes, weir_err *err)
{
    uint64_t share = WR_MAX(wr_share_all(WR_SHARE_MEMORY), ROOM_FREE);

    f->taken += bytes;
    if (f->taken <= room_of(f) && f->taken <= share)
        return 0;
    return wr_fail(err, WEIR_ELIMIT,
                   "%" PRIu64 " bytes of trace would take more than %" PRIu64
                   " bytes of memory",
                   f->size, WR_MIN(room_of(f), share));
}

/* Of all chunks together, whether they are kept or passed over. */
static int check_chunk(struct wr_trace_file *f, const struct wr_chunk *c,
                       weir_err *err)
{
    f->unpacked += c->raw;
    if (f->unpacked > room_of(f))
        return wr_fail(err, WEIR_EFORMAT,
                       "its parts unpack to more than %" PRIu64 " bytes",
                       room_of(f));
    if (c->kind == WR_CHUNK_EVENTS && c->items > WR_CODING_EVENTS_MAX)
        return wr_fail(err, WEIR_EFORMAT, "%" PRIu32 " events in one chunk",
                       c->items);
    if (c->kind == WR_CHUNK_EVENTS &&
        f->events + c->items > EVENT_FREE + EVENT_RATIO * f->size)
        return wr_fail(err, WEIR_EFORMAT,
                       "%" PRIu64 " bytes cannot be more than %" PRIu64
                       " events",
                       f->size, f->events);
    return 0;
}

/* --- tables --- */

/* What a table may take is damage like any other: what came before it stays
 * readable. */
static int take_room(struct wr_trace_file *f, uint64_t bytes, weir_err *err)
{
    weir_err why;

    return wr_trace_file_take(f, bytes, &why) < 0
               ? wr_fail(err, WEIR_EFORMAT, "%s", why.msg)
               : 0;
}

/* Room for one more in a table that has `had` and is to have number `n`. */
static int grow_room(struct wr_trace_file *f, uint32_t n, size_t had,
                     size_t bytes, weir_err *err)
{
    return n < had ? 0 : take_room(f, (n + (uint64_t)1 - had) * bytes, err);
}

static int bad(weir_err *err, const char *what)
{
    return wr_fail(err, WEIR_EFORMAT, "a record of %s is malformed", what);
}

static int take_info(struct wr_trace_file *f, struct wr_packed *p,
                     weir_err *err)
{
    if (wr_trace_take_info(p, &f->texts, &f->info))
        return 0;
    return f->texts.lack ? no_memory(err) : bad(err, "the run");
}

static int take_name(struct wr_trace_file *f, struct wr_packed *p,
                     weir_err *err)
{
    struct wr_trace_named n;
    const char *path;
    int r;

    if (!wr_trace_take_name(p, &f->texts, &n))
        return bad(err, "names");
    if (n.number > f->names_read + NAMES_GAP)
        return wr_fail(err, WEIR_EFORMAT, "the number %" PRIu32 " of a name",
                       n.number);
    r = grow_room(f, n.number, f->name_count, sizeof(*f->names), err);
    if (r < 0)
        return r;
    path = wr_trace_keep(&f->texts, n.path, n.path_len);
    if (!path || !wr_grow(&f->names, &f->name_cap, (size_t)n.number + 1,
                          sizeof(*f->names)))
        return no_memory(err);
    for (; f->name_count <= n.number; f->name_count++)
        f->names[f->name_count] = (struct wr_trace_name){
            .path = "?", .size = UINT64_MAX, .resident = UINT64_MAX};
    f->names[n.number] = (struct wr_trace_name){
        .path = path, .kind = n.kind, .size = n.size, .resident = UINT64_MAX};
    f->names_read++;
    return 0;
}

static int take_resident(struct wr_trace_file *f, struct wr_packed *p,
                         weir_err *err)
{
    struct wr_trace_named n;

    if (!wr_trace_take_resident(p, &f->texts, &n) || n.number >= f->name_count)
        return bad(err, "what is in memory");
    f->names[n.number].resident = n.resident;
    if (n.size != UINT64_MAX)
        f->names[n.number].size = n.size;
    return 0;
}

static int take_process(struct wr_trace_file *f, struct wr_packed *p,
                        weir_err *err)
{
    static const struct wr_trace_process unknown = {.parent = -1,
                                                    .rank = -1,
                                                    .world = -1,
                                                    .end_ns = UINT64_MAX,
                                                    .status = -1,
                                                    .rchar = UINT64_MAX,
                                                    .wchar = UINT64_MAX,
                                                    .read_bytes = UINT64_MAX,
                                                    .write_bytes = UINT64_MAX,
                                                    .major_faults = UINT64_MAX};
    struct wr_trace_numbered n;
    uint32_t number;
    int r;

    if (!wr_trace_take_process(p, &f->texts, &n))
        return f->texts.lack ? no_memory(err) : bad(err, "processes");
    number = n.number;
    if (number > f->processes_read + PROCESSES_GAP)
        return wr_fail(err, WEIR_EFORMAT, "the number %" PRIu32 " of a process",
                       number);
    r = grow_room(f, number, f->process_count, sizeof(*f->processes), err);
    if (r < 0)
        return r;
    if (!wr_grow(&f->processes, &f->process_cap, (size_t)number + 1,
                 sizeof(*f->processes)))
        return no_memory(err);
    for (; f->process_count <= number; f->process_count++)
        f->processes[f->process_count] = unknown;
    f->processes[number] = n.process;
    f->processes_read++;
    return 0;
}

static int take_table(struct wr_trace_file *f, const struct wr_chunk *c,
                      int (*take)(struct wr_trace_file *, struct wr_packed *,
                                  weir_err *),
                      weir_err *err)
{
    struct wr_packed p;
    int r = take_room(f, c->raw, err); /* its texts are kept */

    if (r == 0)
        r = unpack(f, c, &p, err);
    for (uint32_t k = 0; r == 0 && k < c->items; k++)
        r = take(f, &p, err);
    return r;
}

/* --- chunks --- */

static int keep_chunk(struct wr_trace_file *f, const struct wr_chunk *c,
                      uint64_t at, weir_err *err)
{
    if (!wr_grow(&f->chunks, &f->chunk_cap, f->chunk_count + 1,
                 sizeof(*f->chunks)))
        return no_memory(err);
    f->chunks[f->chunk_count++] = (struct kept_chunk){.at = at, .chunk = *c};
    *(c->kind == WR_CHUNK_EVENTS ? &f->events : &f->counts) += c->items;
    return 0;
}

static int take_chunk(struct wr_trace_file *f, const struct wr_chunk *c,
                      uint64_t at, weir_err *err)
{
    int r = check_chunk(f, c, err);

    if (r < 0)
        return r;
    switch (c->kind) {
    case WR_CHUNK_INFO:
        return take_table(f, c, take_info, err);
    case WR_CHUNK_NAMES:
        return take_table(f, c, take_name, err);
    case WR_CHUNK_PROCESSES:
        return take_table(f, c, take_process, err);
    case WR_CHUNK_RESIDENT:
        return take_table(f, c, take_resident, err);
    case WR_CHUNK_EVENTS:
    case WR_CHUNK_COUNTS:
        return keep_chunk(f, c, at, err);
    default: /* END, or of a newer version */
        f->ended |= c->kind == WR_CHUNK_END;
        return 0;
    }
}

static void damaged(struct wr_trace_file *f, uint64_t at, const char *why)
{
    snprintf(f->damage, sizeof(f->damage),
             "the last %" PRIu64 " bytes are not used: %.150s", f->size - at,
             why);
}

/* One chunk at *at, which moves behind it. 1: there is no whole one. */
static int read_chunk(struct wr_trace_file *f, uint64_t *at, weir_err *err)
{
    struct wr_chunk c = {0};
    const char *why = "they are cut off";
    int r;

    if (f->size - *at >= WR_CHUNK_HEAD) {
        r = read_stored(f, *at, &c, err); /* c is empty: the head alone */
        if (r < 0)
            return r;
        why = wr_chunk_parse(f->stored, &c);
        if (!why && c.stored > f->size - *at - WR_CHUNK_HEAD)
            why = "the last chunk is cut off";
    }
    if (!why) {
        r = read_stored(f, *at, &c, err);
        if (r < 0)
            return r;
        if (!wr_chunk_sum_ok(f->stored, &c, f->stored + WR_CHUNK_HEAD))
            why = "a checksum differs";
    }
    if (why) {
        damaged(f, *at, why);
        return 1;
    }
    r = take_chunk(f, &c, *at, err);
    *at += WR_CHUNK_HEAD + c.stored;
    return r;
}

/* A lack of memory fails; bytes that were summed but make no sense are damage
 * like any other: what came before them stays readable. */
static int read_chunks(struct wr_trace_file *f, weir_err *err)
{
    uint64_t at = WR_TRACE_HEAD, begin = at;
    weir_err why;
    int r = 0;

    while (r == 0 && at < f->size && !f->ended) {
        begin = at;
        r = read_chunk(f, &at, &why);
    }
    if (r < 0 && why.code != WEIR_EFORMAT)
        return wr_fail_as(err, r, &why);
    if (r < 0)
        damaged(f, begin, why.msg);
    else if (r == 0 && !f->ended && !f->damage[0])
        snprintf(f->damage, sizeof(f->damage), "it ends without its last part");
    return 0;
}

static int check_head(struct wr_trace_file *f, weir_err *err)
{
    uint8_t head[WR_TRACE_HEAD];
    uint32_t version;
    int r;

    if (f->size < sizeof(head))
        return wr_fail(err, WEIR_EFORMAT, "'%s': not a trace: too short",
                       f->path);
    r = read_at(f, 0, head, sizeof(head), err);
    if (r < 0)
        return r;
    version = wr_le32(head + 8);
    if (memcmp(head, WR_TRACE_MAGIC, 8) != 0)
        return wr_fail(err, WEIR_EFORMAT, "'%s': not a trace of weir", f->path);
    if (version != WR_TRACE_VERSION)
        return wr_fail(err, WEIR_ENOTSUP,
                       "'%s': a trace of version %" PRIu32
                       ", this weir reads version %d",
                       f->path, version, WR_TRACE_VERSION);
    return 0;
}

/* A parent is a number of the table, and no process is above itself. */
static void mend_parents(struct wr_trace_file *f)
{
    for (size_t k = 0; k < f->process_count; k++) {
        struct wr_trace_process *p = &f->processes[k];

        if (p->parent < -1 || p->parent >= (int64_t)f->process_count ||
            p->parent == (int64_t)k)
            p->parent = -1;
    }
}

int wr_trace_file_open(struct wr_trace_file **ret, const char *path,
                       weir_err *err)
{
    struct wr_trace_file *f = calloc(1, sizeof(*f));
    struct stat st;
    int r = 0;

    if (!f)
        return no_memory(err);
    f->fd = wr_regular_open(AT_FDCWD, path, O_RDONLY, 0);
    f->path = strdup(path);
    if (f->fd < 0)
        r = wr_regular_fail(AT_FDCWD, path, path, errno, err);
    else if (!f->path)
        r = no_memory(err);
    else if (fstat(f->fd, &st))
        r = wr_fail_errno(err, errno, "'%s': cannot read", path);
    else
        f->size = (uint64_t)st.st_size;
    if (r == 0)
        r = check_head(f, err);
    if (r == 0)
        r = read_chunks(f, err);
    if (r < 0) {
        wr_trace_file_close(f);
        return r;
    }
    mend_parents(f);
    f->info.complete &= f->ended;
    *ret = f;
    return 0;
}

/* --- what is in it --- */

const struct wr_trace_info *wr_trace_file_info(const struct wr_trace_file *f)
{
    return &f->info;
}

size_t wr_trace_file_processes(const struct wr_trace_file *f)
{
    return f->process_count;
}

const struct wr_trace_process *
wr_trace_file_process(const struct wr_trace_file *f, size_t k)
{
    return &f->processes[k];
}

size_t wr_trace_file_names(const struct wr_trace_file *f)
{
    return f->name_count;
}

const struct wr_trace_name *wr_trace_file_name(const struct wr_trace_file *f,
                                               size_t k)
{
    return &f->names[k];
}

uint64_t wr_trace_file_counts(const struct wr_trace_file *f)
{
    return f->counts;
}

uint64_t wr_trace_file_events(const struct wr_trace_file *f)
{
    return f->events;
}

const char *wr_trace_file_damage(const struct wr_trace_file *f)
{
    return f->damage[0] ? f->damage : NULL;
}

/* --- walking --- */

static bool known(const struct wr_trace_file *f, uint32_t file)
{
    return file == WR_TRACE_NO_FILE || file < f->name_count;
}

/* Whoever walks may index tables by the numbers in events. */
static int check_numbers(const struct wr_trace_file *f,
                         const struct wr_trace_event *e, size_t n,
                         weir_err *err)
{
    for (size_t k = 0; k < n; k++)
        if (e[k].process >= f->process_count || !known(f, e[k].file) ||
            !known(f, e[k].file2))
            return wr_fail(err, WEIR_EFORMAT,
                           "'%s': an event names a file or process that the "
                           "trace does not have",
                           f->path);
    return 0;
}

/* Reads a chunk again, and unpacks it. */
static int fetch(struct wr_trace_file *f, const struct kept_chunk *c,
                 struct wr_packed *ret, weir_err *err)
{
    int r = read_stored(f, c->at, &c->chunk, err);

    if (r < 0)
        return r;
    r = unpack(f, &c->chunk, ret, err);
    return r < 0 ? wr_fail_prefix(err, r, "'%s'", f->path) : 0;
}

static int decode(struct wr_trace_file *f, const struct kept_chunk *c,
                  struct wr_trace_event *events, weir_err *err)
{
    size_t n = c->chunk.items;
    struct wr_packed p;
    int r = fetch(f, c, &p, err);

    if (r < 0)
        return r;
    r = wr_coding_decode(p, n, events, err);
    if (r < 0)
        return wr_fail_prefix(err, r, "'%s'", f->path);
    return check_numbers(f, events, n, err);
}

static int walk_events(struct wr_trace_file *f, struct wr_trace_event *events,
                       wr_trace_events_fn *fn, void *arg, weir_err *err)
{
    int r = 0;

    for (size_t k = 0; r == 0 && k < f->chunk_count; k++) {
        if (f->chunks[k].chunk.kind != WR_CHUNK_EVENTS)
            continue;
        r = decode(f, &f->chunks[k], events, err);
        if (r == 0)
            r = fn(arg, events, f->chunks[k].chunk.items);
    }
    return r;
}

/* A chunk is unpacked again for each piece: memory is what is short here. */
int wr_trace_file_next(struct wr_trace_file *f, struct wr_trace_cursor *c,
                       struct wr_trace_event *room, struct wr_trace_event *to,
                       size_t cap, size_t *ret_count, weir_err *err)
{
    size_t n = 0;
    int r;

    while (c->chunk < f->chunk_count &&
           (f->chunks[c->chunk].chunk.kind != WR_CHUNK_EVENTS ||
            c->at >= f->chunks[c->chunk].chunk.items)) {
        c->chunk++;
        c->at = 0;
    }
    if (c->chunk < f->chunk_count) {
        r = decode(f, &f->chunks[c->chunk], room, err);
        if (r < 0)
            return r;
        n = WR_MIN(cap, f->chunks[c->chunk].chunk.items - c->at);
        memcpy(to, room + c->at, n * sizeof(*to));
        c->at += n;
    }
    *ret_count = n;
    return 0;
}

_Static_assert(WR_TRACE_ROOM >= WR_CODING_EVENTS_MAX, "file.h");

int wr_trace_file_walk(struct wr_trace_file *f, wr_trace_events_fn *fn,
                       void *arg, weir_err *err)
{
    struct wr_trace_event *events = malloc(WR_CODING_EVENTS_MAX *
                                           sizeof(*events));
    int r;

    if (!events)
        return no_memory(err);
    r = walk_events(f, events, fn, arg, err);
    free(events);
    return r;
}

int wr_trace_file_walk_counts(struct wr_trace_file *f, wr_trace_counts_fn *fn,
                              void *arg, weir_err *err)
{
    int r = 0;

    for (size_t k = 0; r == 0 && k < f->chunk_count; k++) {
        const struct kept_chunk *c = &f->chunks[k];
        struct wr_trace_counts counts;
        struct wr_packed p;

        if (c->chunk.kind != WR_CHUNK_COUNTS)
            continue;
        r = fetch(f, c, &p, err);
        for (uint32_t n = 0; r == 0 && n < c->chunk.items; n++) {
            if (!wr_trace_take_counts(&p, &f->texts, &counts) ||
                counts.process >= f->process_count ||
                counts.file >= f->name_count)
                r = wr_fail(err, WEIR_EFORMAT,
                            "'%s': a record of counts is malformed", f->path);
            else
                r = fn(arg, &counts);
        }
    }
    return r;
}
