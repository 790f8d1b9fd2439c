/* moved.c - what an emulated device moved, over time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "storage/moved.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/own.h"

#define STEP_NS  (WR_MOVED_STEP_MS * WR_NS_PER_MS)
#define ROWS_MAX ((size_t)1 << 20) /* 29 hours; what comes later is dropped */
#define EARLY    UINT64_C(100)     /* rows kept free before the first one */

struct wr_moved {
    pthread_mutex_t lock; /* guards all below; nothing is locked inside it */
    FILE *to;             /* owned */
    uint64_t first;       /* tenth of a second of row 0 */
    struct wr_moved_row *rows; /* owned */
    size_t count, cap;
};

int wr_moved_open(const char *path, struct wr_moved **ret, weir_err *err)
{
    struct wr_moved *t = calloc(1, sizeof(*t));
    int fd, r;

    if (!t)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    /* Appended to, so it must not be a file of another one's choice. */
    r = wr_own_open(path, O_WRONLY | O_CREAT | O_APPEND, 0, &fd, err);
    if (r < 0) {
        free(t);
        return r;
    }
    t->to = fdopen(fd, "a");
    if (!t->to) {
        r = wr_fail_errno(err, errno, "'%s': cannot open", path);
        wr_fd_close(fd);
        free(t);
        return r;
    }
    pthread_mutex_init(&t->lock, NULL);
    *ret = t;
    return 0;
}

/* The row of a time, made when it is new; NULL: before the first one, or there
 * is no room. Under the lock. */
static struct wr_moved_row *row_at(struct wr_moved *t, uint64_t at_ns)
{
    uint64_t step = at_ns / STEP_NS;
    size_t k;

    if (!t->count) /* a request that came later may be done earlier */
        t->first = step > EARLY ? step - EARLY : 0;
    if (step < t->first || step - t->first >= ROWS_MAX)
        return NULL;
    k = (size_t)(step - t->first);
    if (!wr_grow(&t->rows, &t->cap, k + 1, sizeof(*t->rows)))
        return NULL;
    for (; t->count <= k; t->count++)
        t->rows[t->count] = (struct wr_moved_row){.ms = (t->first + t->count) *
                                                        WR_MOVED_STEP_MS};
    return &t->rows[k];
}

static void add(struct wr_moved *t, uint64_t read, uint64_t written,
                uint64_t at_ns)
{
    struct wr_moved_row *row;

    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    row = row_at(t, at_ns);
    if (row) {
        row->read += read;
        row->written += written;
    }
    pthread_mutex_unlock(&t->lock);
}

void wr_moved_read(struct wr_moved *t, uint64_t bytes, uint64_t at_ns)
{
    add(t, bytes, 0, at_ns);
}

void wr_moved_written(struct wr_moved *t, uint64_t bytes, uint64_t at_ns)
{
    add(t, 0, bytes, at_ns);
}

void wr_moved_close(struct wr_moved *t)
{
    if (!t)
        return;
    for (size_t k = 0; k < t->count; k++)
        if (t->rows[k].read || t->rows[k].written)
            fprintf(t->to, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                    t->rows[k].ms, t->rows[k].read, t->rows[k].written);
    fclose(t->to);
    pthread_mutex_destroy(&t->lock);
    free(t->rows);
    free(t);
}

/* --- reading it --- */

static int by_time(const void *a, const void *b)
{
    const struct wr_moved_row *x = a, *y = b;

    return (x->ms > y->ms) - (x->ms < y->ms);
}

/* Rows of one time become one. */
static size_t merge(struct wr_moved_row *rows, size_t n)
{
    size_t kept = 0;

    qsort(rows, n, sizeof(*rows), by_time);
    for (size_t k = 0; k < n; k++)
        if (kept && rows[kept - 1].ms == rows[k].ms) {
            rows[kept - 1].read += rows[k].read;
            rows[kept - 1].written += rows[k].written;
        } else {
            rows[kept++] = rows[k];
        }
    return kept;
}

int wr_moved_load(const char *path, struct wr_moved_row **ret,
                  size_t *ret_count, weir_err *err)
{
    struct wr_moved_row *rows = NULL, row;
    size_t count = 0, cap = 0;
    char line[128];
    FILE *in = fopen(path, "re");
    int r = 0;

    if (!in)
        return wr_fail_errno(err, errno, "'%s': cannot open", path);
    while (r == 0 && fgets(line, sizeof(line), in)) {
        if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &row.ms, &row.read,
                   &row.written) != 3)
            continue;
        if (!wr_grow(&rows, &cap, count + 1, sizeof(*rows)))
            r = wr_fail(err, WEIR_ENOMEM, "out of memory");
        else
            rows[count++] = row;
    }
    if (r == 0 && ferror(in))
        r = wr_fail_errno(err, errno, "'%s': cannot read", path);
    fclose(in);
    if (r < 0) {
        free(rows);
        return r;
    }
    *ret_count = count ? merge(rows, count) : 0;
    *ret = rows;
    return 0;
}
