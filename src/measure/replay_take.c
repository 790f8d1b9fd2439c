/* replay_take.c - which requests of a trace can be issued again, and where.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/replay_take.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/shown.h"

#define SAMPLES 8 /* files by which the folder is found */

/* --- requests --- */

static int op_of(unsigned op)
{
    switch (op) {
    case WR_TRACE_OPEN:
        return WR_REPLAY_OPEN;
    case WR_TRACE_CLOSE:
        return WR_REPLAY_CLOSE;
    case WR_TRACE_READ:
    case WR_TRACE_FAULT:
    case WR_TRACE_COPY_IN:
    case WR_TRACE_AIO_READ:
        return WR_REPLAY_READ;
    case WR_TRACE_WRITE:
    case WR_TRACE_COPY_OUT:
    case WR_TRACE_AIO_WRITE:
        return WR_REPLAY_WRITE;
    case WR_TRACE_SYNC:
    case WR_TRACE_DATASYNC:
        return WR_REPLAY_SYNC;
    case WR_TRACE_STAT:
    case WR_TRACE_ACCESS:
        return WR_REPLAY_STAT;
    case WR_TRACE_READDIR:
        return WR_REPLAY_LIST;
    default:
        return -1;
    }
}

static int thread_of(struct wr_replay_take *t, const struct wr_trace_event *e,
                     uint32_t *ret)
{
    uint64_t key = (uint64_t)e->process << 32 | e->thread;

    for (size_t k = t->thread_count; k-- > 0;)
        if (t->threads[k] == key) {
            *ret = (uint32_t)k;
            return 0;
        }
    if (t->thread_count >= WR_REPLAY_THREADS)
        return WEIR_ELIMIT;
    if (!wr_grow(&t->threads, &t->thread_cap, t->thread_count + 1,
                 sizeof(*t->threads)))
        return WEIR_ENOMEM;
    t->threads[t->thread_count] = key;
    *ret = (uint32_t)t->thread_count++;
    return 0;
}

static int add_request(struct wr_replay_take *t, const struct wr_trace_event *e,
                       int op)
{
    struct wr_replay_request q = {
        .start_ns = e->start_ns,
        .dur_ns = e->dur_ns,
        .offset = e->offset,
        .bytes = op == WR_REPLAY_LIST ? 0 : e->bytes,
        .file = e->file,
        .op = (uint8_t)op,
        .buffered = (e->flags & WR_TRACE_STDIO) != 0,
        .failed = (e->flags & WR_TRACE_FAILED) != 0,
        .direct = (e->flags & WR_TRACE_DIRECT) != 0,
        .mapped = e->op == WR_TRACE_FAULT,
    };
    int r = thread_of(t, e, &q.thread);

    if (r < 0)
        return r;
    if (!wr_grow(&t->requests, &t->cap, t->count + 1, sizeof(*t->requests)))
        return WEIR_ENOMEM;
    t->requests[t->count++] = q;
    return 0;
}

static bool writes(const struct wr_trace_event *e, int op)
{
    return op == WR_REPLAY_WRITE || e->op == WR_TRACE_TRUNCATE ||
           (op == WR_REPLAY_OPEN && !(e->flags & WR_TRACE_FAILED) &&
            e->flags & (WR_TRACE_CREATE | WR_TRACE_TRUNC | WR_TRACE_WRITES));
}

static int on_event(struct wr_replay_take *t, const struct wr_trace_event *e)
{
    int op = op_of(e->op);

    if (e->file == WR_TRACE_NO_FILE ||
        wr_trace_file_name(t->trace, e->file)->kind != WR_TRACE_DATA)
        return 0;
    if (writes(e, op))
        t->written[e->file] = true;
    if (e->op == WR_TRACE_RENAME && e->file2 != WR_TRACE_NO_FILE)
        t->written[e->file2] = true;
    if (op < 0) {
        t->others += wr_trace_op_class(e->op) <= WR_TRACE_CLASS_SYNC &&
                     e->op != WR_TRACE_SEEK;
        return 0;
    }
    if (op == WR_REPLAY_READ)
        t->read_bytes[e->file] += e->bytes;
    return add_request(t, e, op);
}

static int on_events(void *arg, const struct wr_trace_event *events,
                     size_t count)
{
    int r = 0;

    for (size_t k = 0; k < count && r == 0; k++)
        r = on_event(arg, &events[k]);
    return r;
}

int wr_replay_take(struct wr_trace_file *f, struct wr_replay_take *ret,
                   weir_err *err)
{
    size_t names = wr_trace_file_names(f);
    int r;

    *ret = (struct wr_replay_take){.trace = f};
    ret->read_bytes = calloc(names + 1, sizeof(*ret->read_bytes));
    ret->written = calloc(names + 1, sizeof(*ret->written));
    if (!ret->read_bytes || !ret->written)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_trace_file_walk(f, on_events, ret, err);
    if (r == WEIR_ELIMIT && ret->thread_count >= WR_REPLAY_THREADS)
        return wr_fail(err, r, "over %d traced threads", WR_REPLAY_THREADS);
    if (r == WEIR_ENOMEM)
        return wr_fail(err, r, "out of memory for %zu requests", ret->count);
    return r;
}

void wr_replay_take_done(struct wr_replay_take *t)
{
    free(t->requests);
    free(t->threads);
    free(t->read_bytes);
    free(t->written);
    *t = (struct wr_replay_take){0};
}

/* --- the folder --- */

const char *wr_replay_below(const char *base, const char *path)
{
    size_t n = strlen(base);

    while (n && base[n - 1] == '/')
        n--;
    if (strncmp(path, base, n) != 0 || (path[n] && path[n] != '/'))
        return NULL;
    while (path[n] == '/')
        n++;
    return path + n;
}

static bool is_read_only(const struct wr_replay_take *t, size_t file)
{
    return t->read_bytes[file] > 0 && !t->written[file];
}

/* Some of the files that were read, spread over all of them; the first is the one
 * of which the most was read. */
static size_t sample_files(const struct wr_replay_take *t,
                           const char *ret[SAMPLES + 1])
{
    size_t names = wr_trace_file_names(t->trace), all = 0, seen = 0, n = 1;
    size_t most = names;

    for (size_t k = 0; k < names; k++)
        if (is_read_only(t, k)) {
            all++;
            if (most == names || t->read_bytes[k] > t->read_bytes[most])
                most = k;
        }
    if (most == names)
        return 0;
    ret[0] = wr_trace_file_name(t->trace, most)->path;
    for (size_t k = 0; k < names && n <= SAMPLES; k++) {
        if (!is_read_only(t, k))
            continue;
        if (seen++ >= (n - 1) * all / SAMPLES)
            ret[n++] = wr_trace_file_name(t->trace, k)->path;
    }
    return n;
}

static size_t found_there(struct wr_store *store, const char *base,
                          const char *const *samples, size_t n)
{
    struct wr_stat sb;
    size_t hits = 0;

    for (size_t k = 0; k < n; k++) {
        const char *path = wr_replay_below(base, samples[k]);

        hits += path && *path &&
                store->ops->stat(store, path, &sb, NULL) == 0 &&
                sb.kind == WR_KIND_FILE;
    }
    return hits;
}

int wr_replay_base(const struct wr_replay_take *t, struct wr_store *store,
                   char **ret, weir_err *err)
{
    const char *samples[SAMPLES + 1];
    size_t n = sample_files(t, samples), best = 0, best_len = 0;
    char *base = n ? strdup(samples[0]) : NULL;
    char *slash;

    if (n && !base)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (!n)
        return wr_fail(err, WEIR_EINVAL, "the trace reads no files");
    /* From the deepest folder upwards: of equal ones the highest, which leaves
     * the fewest files out. */
    while ((slash = strrchr(base, '/'))) {
        size_t hits;

        *slash = '\0';
        hits = found_there(store, base, samples, n);
        if (hits && hits >= best) {
            best = hits;
            best_len = strlen(base);
        }
    }
    memcpy(base, samples[0], best_len);
    base[best_len] = '\0';
    if (!best) {
        free(base);
        return wr_fail(err, WEIR_ENOENT,
                       "no traced file is there, '%s' for one; --replay-from "
                       "says which traced folder it is",
                       wr_show(samples[0]).text);
    }
    *ret = base;
    return 0;
}
