/* check_uring.c - whether io_uring reads, and if not, what is in its way.
 * SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "storage/storage.h"

#define SELF     "/proc/self/exe" /* a file that is there and can be read */
#define BYTES    4096
#define DISABLED "/proc/sys/kernel/io_uring_disabled"

/* One read by the engine that pipelines use. */
static int read_once(struct wr_store *st, const char *leaf, weir_err *err)
{
    const struct wr_queue_config cfg = {.depth = 8, .io = WEIR_IO_URING};
    size_t cap = wr_read_cap(BYTES, false);
    struct wr_io io = {.path = leaf, .len = BYTES, .cap = cap}, *one = &io;
    struct wr_queue *q = NULL;
    int r;

    io.buf = malloc(cap);
    r = io.buf ? st->ops->queue_open(st, &cfg, &q, err)
               : wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0) {
        q->ops->submit(q, &one, 1);
        q->ops->reap(q, &one, 1, /* wait= */ true);
        r = io.result < 0 ? wr_io_error(&io, SELF, err) : 0;
        q->ops->close(q);
    }
    free(io.buf);
    return r;
}

static int try_uring(weir_err *err)
{
    struct wr_store *st = NULL;
    char *leaf = NULL;
    int r = wr_store_open(SELF, &st, &leaf, err);

    if (r == 0 && leaf)
        r = read_once(st, leaf, err);
    free(leaf);
    wr_store_close(st);
    return r;
}

/* 0: for all, 1: for the privileged, 2: for nobody; before Linux 6.6: 0. */
static int disabled(const struct wr_doctor *d)
{
    char text[16];

    return wr_doctor_read(d, DISABLED, text, sizeof(text)) < 0 ? 0 : atoi(text);
}

/* From the surest reason to the least sure. */
static void explain(const struct wr_doctor *d, const weir_err *err,
                    struct wr_finding *f)
{
    bool refused = err->os_errno == EPERM || err->os_errno == ENOSYS ||
                   err->os_errno == EACCES;

    if (refused && disabled(d)) {
        wr_observed(f, "turned off: kernel.io_uring_disabled = %d",
                    disabled(d));
        wr_remedy(f, WR_HEALTH_MISSING,
                  "sudo sysctl -w kernel.io_uring_disabled=0");
    } else if (refused && wr_doctor_status(d, "Seccomp:") == 2) {
        wr_observed(f,
                    "blocked by a seccomp filter, as containers have one (%s)",
                    err->msg);
        wr_remedy(f, WR_HEALTH_MISSING,
                  "docker run --security-opt seccomp=unconfined ...");
    } else if (err->code == WEIR_ENOMEM) {
        wr_observed(f, "no memory for a ring (%s)", err->msg);
        wr_remedy(f, WR_HEALTH_MISSING, "ulimit -l unlimited");
    } else if (err->code == WEIR_EMFILE) {
        wr_observed(f, "no descriptor for a ring (%s)", err->msg);
        wr_remedy(f, WR_HEALTH_MISSING, "ulimit -n 65536");
    } else {
        wr_observed(f, "%s", err->msg);
        wr_remedy(f, WR_HEALTH_MISSING, "apt-get install " WR_DOCTOR_KERNEL);
    }
}

void wr_check_uring(const struct wr_doctor *d, struct wr_finding *f)
{
    weir_err err = {0};

    if (access(SELF, R_OK)) {
        wr_observed(f, "not tried: no '" SELF "' to read");
        wr_means(f, "Reads go through a pool of threads if it does not work.");
        wr_remedy(f, WR_HEALTH_LIMITED, "mount -t proc proc /proc");
        return;
    }
    if (try_uring(&err) == 0) {
        wr_observed(f, "works: each thread keeps many reads in flight");
        return;
    }
    explain(d, &err, f);
    wr_means(f, "Reads go through a pool of threads instead, which costs more "
                "CPU time at high depths.");
}
