/* file_write.c - writes a trace, one whole chunk at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "base/regular.h"
#include "trace/coding.h"
#include "trace/records.h"

#define RECORDS_FULL ((size_t)1 << 20) /* bytes of records that make a chunk */

/* Records of one kind that wait for their chunk. */
struct waiting_records {
    struct wr_pack bytes;
    uint32_t items;
};

struct wr_trace_writer {
    int fd;
    char *path;                     /* owned: for messages */
    off_t whole;                    /* bytes up to the last whole chunk */
    struct wr_chunk_packer *packer; /* owned */
    struct wr_trace_event *events;  /* owned: WR_CODING_EVENTS_MAX */
    size_t event_count;
    struct waiting_records names, processes, counts, resident;
    struct wr_pack raw, out; /* scratch */
};

static void waiting_done(struct waiting_records *w)
{
    free(w->bytes.bytes);
}

void wr_trace_writer_drop(struct wr_trace_writer *w)
{
    if (!w)
        return;
    if (w->fd >= 0)
        close(w->fd);
    wr_chunk_packer_free(w->packer);
    waiting_done(&w->names);
    waiting_done(&w->processes);
    waiting_done(&w->counts);
    waiting_done(&w->resident);
    free(w->raw.bytes);
    free(w->out.bytes);
    free(w->events);
    free(w->path);
    free(w);
}

/* All of it or nothing: on a full disk the file keeps the chunks it has, and
 * goes on behind them should there be space again. */
static int write_all(struct wr_trace_writer *w, const uint8_t *bytes,
                     size_t len, weir_err *err)
{
    int r = wr_pwrite_all(w->fd, bytes, len, w->whole);

    if (r < 0) {
        (void)!ftruncate(w->fd, w->whole);
        return wr_fail_errno(err, -r, "'%s': cannot write", w->path);
    }
    w->whole += (off_t)len;
    return 0;
}

/* Makes a chunk of `raw` and writes it. */
static int write_chunk(struct wr_trace_writer *w, int kind, uint32_t items,
                       const struct wr_pack *raw, weir_err *err)
{
    int r = wr_chunk_pack(w->packer, kind, items, raw, &w->out, err);

    if (r < 0)
        return wr_fail_prefix(err, r, "'%s'", w->path);
    return write_all(w, w->out.bytes, w->out.len, err);
}

static int write_waiting(struct wr_trace_writer *w,
                         struct waiting_records *list, int kind, weir_err *err)
{
    int r;

    if (list->bytes.failed)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (!list->items)
        return 0;
    r = write_chunk(w, kind, list->items, &list->bytes, err);
    list->bytes.len = 0;
    list->items = 0;
    return r;
}

/* Events name files and processes, which must be in the file before them. */
static int write_tables(struct wr_trace_writer *w, weir_err *err)
{
    int r = write_waiting(w, &w->processes, WR_CHUNK_PROCESSES, err);

    return r < 0 ? r : write_waiting(w, &w->names, WR_CHUNK_NAMES, err);
}

static int write_events(struct wr_trace_writer *w, weir_err *err)
{
    size_t n = w->event_count;
    int r = write_tables(w, err);

    if (r < 0 || !n)
        return r;
    w->raw.len = 0;
    w->raw.failed = false;
    r = wr_coding_encode(w->events, n, &w->raw, err);
    if (r < 0)
        return r;
    w->event_count = 0;
    return write_chunk(w, WR_CHUNK_EVENTS, (uint32_t)n, &w->raw, err);
}

static int write_info(struct wr_trace_writer *w,
                      const struct wr_trace_info *info, weir_err *err)
{
    w->raw.len = 0;
    w->raw.failed = false;
    wr_trace_put_info(&w->raw, info);
    return write_chunk(w, WR_CHUNK_INFO, 1, &w->raw, err);
}

static int write_head(struct wr_trace_writer *w, weir_err *err)
{
    uint8_t head[WR_TRACE_HEAD] = {0};

    memcpy(head, WR_TRACE_MAGIC, 8);
    wr_le_put(head + 8, WR_TRACE_VERSION, 4);
    return write_all(w, head, sizeof(head), err);
}

int wr_trace_writer_open(struct wr_trace_writer **ret, const char *path,
                         const struct wr_trace_info *info, weir_err *err)
{
    struct wr_trace_writer *w = calloc(1, sizeof(*w));
    int r;

    if (!w)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    w->fd = -1;
    w->path = strdup(path);
    w->packer = wr_chunk_packer_new();
    w->events = malloc(WR_CODING_EVENTS_MAX * sizeof(*w->events));
    if (!w->path || !w->packer || !w->events) {
        wr_trace_writer_drop(w);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    /* It has the arguments of every program: others do not read it unless the
     * user lets them. */
    w->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (w->fd < 0)
        r = errno == EEXIST
                ? wr_fail(err, WEIR_EEXIST,
                          "'%s' is there already: remove it, or name another "
                          "file",
                          path)
                : wr_fail_errno(err, errno, "'%s': cannot create", path);
    else
        r = write_head(w, err);
    if (r == 0)
        r = write_info(w, info, err);
    if (r < 0) {
        if (w->fd >= 0)
            unlink(path); /* nothing is in it */
        wr_trace_writer_drop(w);
        return r;
    }
    *ret = w;
    return 0;
}

int wr_trace_writer_events(struct wr_trace_writer *w,
                           const struct wr_trace_event *events, size_t count,
                           weir_err *err)
{
    while (count) {
        size_t n = WR_MIN(count, WR_CODING_EVENTS_MAX - w->event_count);

        memcpy(w->events + w->event_count, events, n * sizeof(*events));
        w->event_count += n;
        events += n;
        count -= n;
        if (w->event_count == WR_CODING_EVENTS_MAX) {
            int r = write_events(w, err);

            if (r < 0)
                return r;
        }
    }
    return 0;
}

/* One more record waits; a full list becomes a chunk. */
static int waits(struct wr_trace_writer *w, struct waiting_records *list,
                 int kind, weir_err *err)
{
    int r;

    list->items++;
    if (list->bytes.failed)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (list->bytes.len < RECORDS_FULL)
        return 0;
    r = write_tables(w, err);
    return r < 0 ? r : write_waiting(w, list, kind, err);
}

int wr_trace_writer_name(struct wr_trace_writer *w, uint32_t number,
                         const char *path, int kind, uint64_t size,
                         weir_err *err)
{
    struct wr_trace_named n = {
        .number = number, .kind = kind, .size = size, .path = path};

    n.path_len = strnlen(path, WR_TRACE_PATH_MAX);
    wr_trace_put_name(&w->names.bytes, &n);
    return waits(w, &w->names, WR_CHUNK_NAMES, err);
}

int wr_trace_writer_process(struct wr_trace_writer *w, uint32_t number,
                            const struct wr_trace_process *p, weir_err *err)
{
    wr_trace_put_process(&w->processes.bytes,
                         &(struct wr_trace_numbered){number, *p});
    return waits(w, &w->processes, WR_CHUNK_PROCESSES, err);
}

int wr_trace_writer_counts(struct wr_trace_writer *w,
                           const struct wr_trace_counts *counts, size_t n,
                           weir_err *err)
{
    int r = 0;

    for (size_t k = 0; r == 0 && k < n; k++) {
        wr_trace_put_counts(&w->counts.bytes, &counts[k]);
        r = waits(w, &w->counts, WR_CHUNK_COUNTS, err);
    }
    return r;
}

int wr_trace_writer_resident(struct wr_trace_writer *w, uint32_t number,
                             uint64_t resident_bytes, uint64_t size,
                             weir_err *err)
{
    const struct wr_trace_named n = {
        .number = number, .resident = resident_bytes, .size = size};

    wr_trace_put_resident(&w->resident.bytes, &n);
    return waits(w, &w->resident, WR_CHUNK_RESIDENT, err);
}

int wr_trace_writer_flush(struct wr_trace_writer *w, weir_err *err)
{
    int r = write_events(w, err);

    if (r == 0)
        r = write_waiting(w, &w->counts, WR_CHUNK_COUNTS, err);
    if (r == 0)
        r = write_waiting(w, &w->resident, WR_CHUNK_RESIDENT, err);
    return r;
}

int wr_trace_writer_close(struct wr_trace_writer *w,
                          const struct wr_trace_info *info, weir_err *err)
{
    const struct wr_pack nothing = {0};
    int r = wr_trace_writer_flush(w, err), fd;

    if (r == 0)
        r = write_info(w, info, err);
    if (r == 0)
        r = write_chunk(w, WR_CHUNK_END, 0, &nothing, err);
    fd = w->fd;
    w->fd = -1;
    if (close(fd) && r == 0) /* network file systems fail late */
        r = wr_fail_errno(err, errno, "'%s': cannot write", w->path);
    wr_trace_writer_drop(w);
    return r;
}
