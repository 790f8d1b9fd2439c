/* selftest.c - what the mount itself costs, measured through the mount.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mount/selftest.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "mount/door.h"

#define WARM_UP  50
#define ROUNDS   400 /* answered at once: about 20 ms */
#define TRIES    6   /* of coming nearer to the cost of one that waits */
#define LATE     400 /* reads of each; */
#define LATE_MIN 8   /* fewer of long ones, */
#define LATE_NS  (400 * WR_NS_PER_MS) /* so that all last about this long */
#define BYTES    4096

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Median time of `count` reads at `offset`; 0 when one fails. */
static uint64_t median_read(int fd, uint64_t offset, unsigned count)
{
    uint64_t took[ROUNDS], start;
    char buf[BYTES];

    for (unsigned i = 0; i < count; i++) {
        start = wr_clock_ns();
        if (pread(fd, buf, BYTES, (off_t)offset) != BYTES)
            return 0;
        took[i] = wr_clock_ns() - start;
    }
    qsort(took, count, sizeof(*took), compare);
    return took[count / 2];
}

/* What has to be taken off so that a read takes `want_ns`: each try waits as
 * long as the ones before make believe. The median counts: on which core who
 * answers and who asks run makes a difference, and changes. */
static uint64_t find_cost(int fd, uint64_t want_ns, unsigned count)
{
    uint64_t found[TRIES], cost = 0, took;

    for (unsigned i = 0; i < TRIES; i++) {
        took = median_read(fd, wr_probe_offset(want_ns - cost), count);
        found[i] = took - WR_MIN(took, want_ns - cost);
        qsort(found, i + 1, sizeof(*found), compare);
        cost = WR_MIN(found[i / 2], want_ns);
    }
    return cost;
}

/* What it costs to find and open a file, by one who reads file after file;
 * 0 when it fails. A low quartile, for the same reason. */
static uint64_t find_open_cost(int fd, const char *path, uint64_t wait_ns,
                               unsigned count)
{
    uint64_t took[LATE], start;

    for (unsigned i = 0; i < count; i++) {
        int opened;

        median_read(fd, wr_probe_offset(wait_ns), 1);
        start = wr_clock_ns();
        opened = open(path, O_RDONLY | O_CLOEXEC);
        took[i] = wr_clock_ns() - start;
        if (opened < 0)
            return 0;
        close(opened);
    }
    qsort(took, count, sizeof(*took), compare);
    return took[count / 4];
}

static void measure(const struct wr_selftest_plan *plan,
                    struct wr_selftest_result *res)
{
    uint64_t want = plan->latency_ns;
    unsigned count = (unsigned)WR_MIN(LATE_NS / (TRIES + 1) / want, LATE);
    char path[PATH_MAX + 64];
    int fd;

    count = WR_MAX(count, LATE_MIN);
    snprintf(path, sizeof(path), "%s/%s", plan->mountpoint, plan->probe_name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    median_read(fd, 0, WARM_UP);
    res->floor_ns = median_read(fd, 0, ROUNDS);
    res->cost_ns = find_cost(fd, want, count);
    res->open_ns = find_open_cost(fd, path, want, count);
    close(fd);
}

/* The kernel's read-ahead of this mount: root may set it. */
static void set_readahead(const struct wr_selftest_plan *plan,
                          struct wr_selftest_result *res)
{
    char path[96], text[32];
    struct stat st;
    uint64_t kb;
    FILE *f;

    if (stat(plan->mountpoint, &st) < 0)
        return;
    snprintf(path, sizeof(path), "/sys/class/bdi/%u:%u/read_ahead_kb",
             major(st.st_dev), minor(st.st_dev));
    if (plan->readahead_bytes) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        int n = snprintf(text, sizeof(text), "%" PRIu64 "\n",
                         plan->readahead_bytes / 1024);

        res->readahead_set = fd >= 0 && write(fd, text, (size_t)n) == n;
        if (fd >= 0)
            close(fd);
    }
    f = fopen(path, "re");
    if (f && fscanf(f, "%" SCNu64, &kb) == 1)
        res->readahead_bytes = kb * 1024;
    if (f)
        fclose(f);
}

static void run_child(const struct wr_selftest_plan *plan,
                      const struct wr_child *c)
{
    struct wr_selftest_result res = {0};
    char go;

    close(plan->close_fd);
    if (read(c->in, &go, 1) != 1)
        _exit(1);
    set_readahead(plan, &res);
    if (plan->latency_ns)
        measure(plan, &res);
    _exit(write(c->out, &res, sizeof(res)) == sizeof(res) ? 0 : 1);
}

int wr_selftest_fork(struct wr_child *c, const struct wr_selftest_plan *plan,
                     weir_err *err)
{
    int r = wr_child_start(c, /* packets= */ false, err);

    if (r == 0)
        run_child(plan, c);
    return r < 0 ? r : 0;
}

bool wr_selftest_finish(const struct wr_child *c, bool go,
                        struct wr_selftest_result *ret)
{
    struct wr_selftest_result res;
    bool ok = go && write(c->out, "g", 1) == 1;

    close(c->out); /* without a word, the child ends */
    ok = ok && read(c->in, &res, sizeof(res)) == sizeof(res);
    close(c->in);
    wr_child_reap(c->pid);
    if (ok)
        *ret = res;
    return ok;
}
