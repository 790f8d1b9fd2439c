/* mount.c - an emulated device as a file system: mounts, serves, unmounts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mount/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/thread.h"
#include "mount/door.h"
#include "mount/mountpoint.h"

struct wr_selftest_plan {
    const char *mountpoint;   /* borrowed, absolute */
    const char *probe_name;   /* borrowed: a file there, see door.h */
    int close_fd;             /* the server's: the child must not hold it */
    uint64_t latency_ns;      /* that a program is to see; 0: do not measure */
    uint64_t readahead_bytes; /* to be set; 0: leave it */
};

struct wr_selftest_result {
    uint64_t floor_ns; /* median round trip, answered at once */
    uint64_t cost_ns;  /* leaving so much earlier, an answer after
                          latency_ns comes in time */
    uint64_t open_ns;  /* to find and open a file, between such reads */
    uint64_t readahead_bytes;
    bool readahead_set;
};

#define WARM_UP  50
#define ROUNDS   400 /* answered at once: about 20 ms */
#define TRIES    6   /* of coming nearer to the cost of one that waits */
#define LATE     400 /* reads of each; */
#define LATE_MIN 8   /* fewer of long ones, */
#define LATE_NS  (400 * WR_NS_PER_MS) /* so that all last about this long */
#define BYTES    4096

#define RECEIVERS_MAX 32
#define IN_BACKGROUND 1024 /* requests that the kernel keeps with us */
#define MIN_WAIT_US   50.0
#define MAX_WAIT_US   10000.0
#define WAKE_SIGNAL   SIGUSR2
#define WAKE_AGAIN_NS (5 * WR_NS_PER_MS)
#define BUSY_TRIES    20
#define BUSY_NS       (50 * WR_NS_PER_MS)

struct wr_mount {
    struct wr_door door;
    struct wr_mountpoint at;
    struct fuse_session *session; /* owned */
    pthread_t receivers[RECEIVERS_MAX];
    unsigned receiver_count;
    atomic_uint running; /* receivers that have not ended */
    int event_fd;        /* owned; readable when none runs */
    bool door_open;      /* door is initialized */
    bool mounted;        /* at at.mountpoint, by us */
    dev_t device;        /* of the file system; 0: unknown */
    struct wr_mount_facts facts;
};

/* --- what the mount itself costs ---
 *
 * Measured through the mount by a child process, as any program would use it: a
 * thread of the server that waits for the server could not be killed. It is
 * forked before the threads of the server start, and does its work when they
 * run. */

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

static int selftest_fork(struct wr_child *c,
                         const struct wr_selftest_plan *plan, weir_err *err)
{
    int r = wr_child_start(c, /* packets= */ false, err);

    if (r == 0)
        run_child(plan, c);
    return r < 0 ? r : 0;
}

/* Lets it work if `go`, and waits for its end. False: there is no result. */
static bool selftest_finish(const struct wr_child *c, bool go,
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

/* libfuse writes to stderr; what fails is told by weir_err instead. */
static void log_nothing(enum fuse_log_level level, const char *fmt, va_list ap)
{
}

static void on_wake(int number)
{
    (void)number; /* its only purpose is to interrupt a read */
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
    conn->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
                              FUSE_CAP_SPLICE_MOVE | FUSE_CAP_WRITEBACK_CACHE);
    conn->want |= conn->capable &
                  (FUSE_CAP_ASYNC_READ | FUSE_CAP_ASYNC_DIO |
                   FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_AUTO_INVAL_DATA |
                   FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_READDIRPLUS |
                   FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_CACHE_SYMLINKS);
    conn->max_write = WR_DOOR_IO_MAX;
    conn->max_background = IN_BACKGROUND;
    conn->congestion_threshold = IN_BACKGROUND * 3 / 4;
    conn->time_gran = 1;
}

static void *receive(void *arg)
{
    struct wr_mount *m = arg;
    struct fuse_buf buf = {0};
    uint64_t one = 1;
    sigset_t set;
    int n;

    sigemptyset(&set);
    sigaddset(&set, WAKE_SIGNAL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    while (!fuse_session_exited(m->session)) {
        n = fuse_session_receive_buf(m->session, &buf);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            break;
        fuse_session_process_buf(m->session, &buf);
    }
    fuse_session_exit(m->session);
    free(buf.mem);
    if (atomic_fetch_sub(&m->running, 1) == 1 &&
        write(m->event_fd, &one, sizeof(one)) < 0)
        return NULL; /* cannot be: the counter is far from its end */
    return NULL;
}

static int start_receivers(struct wr_mount *m, unsigned count, weir_err *err)
{
    struct sigaction wake = {.sa_handler = on_wake}; /* no SA_RESTART */
    int r;

    sigemptyset(&wake.sa_mask);
    sigaction(WAKE_SIGNAL, &wake, NULL);
    for (; m->receiver_count < count; m->receiver_count++) {
        atomic_fetch_add(&m->running, 1);
        r = wr_thread_start(&m->receivers[m->receiver_count], "weir-mount",
                            receive, m, err);
        if (r < 0) {
            atomic_fetch_sub(&m->running, 1);
            return r;
        }
    }
    return 0;
}

/* Ends the receivers, which may be waiting for the kernel. A signal can come
 * just before one begins to wait, so it is sent until all have ended. */
static void stop_receivers(struct wr_mount *m)
{
    fuse_session_exit(m->session);
    while (atomic_load(&m->running) > 0) {
        for (unsigned i = 0; i < m->receiver_count; i++)
            pthread_kill(m->receivers[i], WAKE_SIGNAL);
        wr_clock_sleep_until(wr_clock_ns() + WAKE_AGAIN_NS);
    }
    for (unsigned i = 0; i < m->receiver_count; i++)
        pthread_join(m->receivers[i], NULL);
}

static int new_session(struct wr_mount *m, const struct wr_mount_config *cfg,
                       weir_err *err)
{
    struct fuse_lowlevel_ops ops = {.init = op_init};
    char options[256], name[] = "weir", flag[] = "-o";
    char *argv[] = {name, flag, options, NULL};
    struct fuse_args args = FUSE_ARGS_INIT(3, argv);

    snprintf(options, sizeof(options),
             "fsname=weir-%.*s,subtype=weir,default_permissions%s%s",
             (int)strcspn(cfg->profile->name, ",\\ "), cfg->profile->name,
             cfg->read_only ? ",ro" : "",
             cfg->allow_other ? ",allow_other" : "");
    wr_ops_tree(&ops);
    wr_ops_data(&ops);
    fuse_set_log_func(log_nothing);
    m->session = fuse_session_new(&args, &ops, sizeof(ops), &m->door);
    fuse_opt_free_args(&args);
    if (!m->session)
        return wr_fail(err, WEIR_EINVAL, "libfuse does not take '%s'", options);
    return 0;
}

static int attach(struct wr_mount *m, weir_err *err)
{
    int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return wr_fail_errno(err, errno,
                             "'/dev/fuse': mounting is not possible here");
    close(fd);
    errno = 0;
    if (fuse_session_mount(m->session, m->at.mountpoint) == 0) {
        m->mounted = true;
        if (wr_mountpoint_device(m->at.mountpoint, &m->device) < 0)
            m->device = 0;
        return 0;
    }
    return wr_fail_errno(err, errno ? errno : EPERM, "'%s': cannot mount",
                         m->at.mountpoint);
}

/* Waits of a length as on the device: the longer a core has slept, the longer
 * it takes to wake up. */
static uint64_t lone_read_ns(const struct wr_device_profile *p)
{
    double us = p->read_latency_us + p->seek_us;

    return (uint64_t)(1e3 * WR_MAX(MIN_WAIT_US, WR_MIN(us, MAX_WAIT_US)));
}

/* The child that measures is forked before there are threads. */
static int fork_selftest(struct wr_mount *m, const struct wr_mount_config *cfg,
                         struct wr_child *test, weir_err *err)
{
    const struct wr_selftest_plan plan = {
        .mountpoint = m->at.mountpoint,
        .probe_name = m->door.probe_name,
        .close_fd = fuse_session_fd(m->session),
        .latency_ns = cfg->compensate ? lone_read_ns(cfg->profile) : 0,
        .readahead_bytes = cfg->profile->readahead_bytes,
    };

    snprintf(m->door.probe_name, sizeof(m->door.probe_name),
             ".weir-probe-%016" PRIx64,
             wr_mix64(wr_clock_ns() ^ ((uint64_t)getpid() << 40)));
    return selftest_fork(test, &plan, err);
}

static void take_result(struct wr_mount *m, const struct wr_mount_config *cfg,
                        const struct wr_selftest_result *res)
{
    m->facts = (struct wr_mount_facts){
        .floor_ns = res->floor_ns,
        .cost_ns = res->cost_ns,
        .readahead_wanted = cfg->profile->readahead_bytes > 0,
        .readahead_set = res->readahead_set,
        .readahead_bytes = res->readahead_bytes,
    };
    atomic_store(&m->door.cost_ns, m->facts.cost_ns);
    atomic_store(&m->door.open_cost_ns, res->open_ns);
}

static int serve(struct wr_mount *m, const struct wr_mount_config *cfg,
                 int source_fd, weir_err *err)
{
    unsigned count = cfg->threads ? cfg->threads : wr_cpu_count() + 2;
    struct wr_selftest_result res = {0};
    struct wr_child test;
    int r = fork_selftest(m, cfg, &test, err);

    if (r < 0) {
        close(source_fd);
        return r;
    }
    atomic_store(&m->door.probe_pid, test.pid);
    r = wr_door_init(&m->door, source_fd, cfg->profile, err);
    if (r == 0) {
        m->door_open = true;
        m->door.others_receive = count > 1;
        r = start_receivers(m, count < RECEIVERS_MAX ? count : RECEIVERS_MAX,
                            err);
    }
    if (!selftest_finish(&test, /* go= */ r == 0, &res) && r == 0)
        r = wr_fail(err, WEIR_EIO, "'%s': the mount does not answer",
                    m->at.mountpoint);
    atomic_store(&m->door.probe_pid, 0);
    if (r == 0)
        take_result(m, cfg, &res);
    return r;
}

const char *wr_mount_missing(void)
{
    return NULL;
}

/* All that is asked through the mount is done by this process. As root it would
 * make files of root for others, and open what an ACL of the source denies them:
 * the kernel judges by owner and mode alone. */
static int check_others(const struct wr_mount_config *cfg, weir_err *err)
{
    if (!cfg->allow_other || geteuid() != 0)
        return 0;
    return wr_fail(err, WEIR_EACCES,
                   "'%s': root does not mount for other users: what they do "
                   "there would be done as root; mount as the user who is to "
                   "see the files",
                   cfg->mountpoint);
}

int wr_mount_open(const struct wr_mount_config *cfg, struct wr_mount **ret,
                  weir_err *err)
{
    struct wr_mount *m;
    int r = check_others(cfg, err), fd = -1;

    if (r < 0)
        return r;
    m = calloc(1, sizeof(*m));
    if (!m)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    m->event_fd = eventfd(0, EFD_CLOEXEC);
    if (m->event_fd < 0)
        r = wr_fail_errno(err, errno, "eventfd");
    else
        r = wr_mountpoint_find(&m->at, cfg->source, cfg->mountpoint, cfg->force,
                               err);
    if (r == 0) {
        fd = open(m->at.source, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            r = wr_fail_errno(err, errno, "'%s'", cfg->source);
    }
    if (r == 0)
        r = new_session(m, cfg, err);
    if (r == 0)
        r = attach(m, err);
    if (r == 0)
        r = serve(m, cfg, fd, err); /* owns fd from here on */
    else if (fd >= 0)
        close(fd);
    if (r < 0) {
        wr_mount_close(m);
        return r;
    }
    *ret = m;
    return 0;
}

void wr_mount_facts(const struct wr_mount *m, struct wr_mount_facts *ret)
{
    *ret = m->facts;
}

void wr_mount_stats(const struct wr_mount *m, struct wr_mount_stats *ret)
{
    *ret = (struct wr_mount_stats){
        .reads = atomic_load(&m->door.reads),
        .writes = atomic_load(&m->door.writes),
        .others = atomic_load(&m->door.others),
        .read_bytes = atomic_load(&m->door.read_bytes),
        .write_bytes = atomic_load(&m->door.write_bytes),
    };
}

int wr_mount_event(const struct wr_mount *m)
{
    return m->event_fd;
}

/* False when it was unmounted and nobody uses it. */
static bool is_connected(const struct wr_mount *m)
{
    struct pollfd fuse = {.fd = fuse_session_fd(m->session)};

    return fuse.fd >= 0 && !(poll(&fuse, 1, 0) == 1 && fuse.revents & POLLERR);
}

/* Whether it was taken from its place: something else may be there now. */
static bool is_out_of_sight(const struct wr_mount *m)
{
    dev_t seen;
    int r = wr_mountpoint_device(m->at.mountpoint, &seen);

    return r == -ENOENT || (r == 0 && m->device && seen != m->device);
}

bool wr_mount_end(struct wr_mount *m)
{
    if (!m->mounted)
        return true;
    m->mounted = false;
    if (!is_connected(m))
        return true;
    if (is_out_of_sight(m))
        return false;
    if (wr_mountpoint_unmount(m->at.mountpoint, /* lazy= */ false) == 0)
        return true;
    wr_mountpoint_unmount(m->at.mountpoint, /* lazy= */ true);
    return false;
}

/* libfuse would unmount by the path, whatever is there now: it is let to do
 * so only when the kernel has ended the connection, and then it just frees. */
static void end_session(struct wr_mount *m)
{
    if (fuse_session_fd(m->session) >= 0 && !is_connected(m))
        fuse_session_unmount(m->session);
    fuse_session_destroy(m->session);
}

void wr_mount_close(struct wr_mount *m)
{
    if (!m)
        return;
    wr_mount_end(m);
    if (m->session)
        stop_receivers(m);
    if (m->door_open)
        wr_door_done(&m->door);
    if (m->session)
        end_session(m);
    if (m->event_fd >= 0)
        close(m->event_fd);
    free(m);
}

int wr_mount_remove(const char *mountpoint, bool lazy, weir_err *err)
{
    char path[PATH_MAX];
    int r = wr_mountpoint_resolve(mountpoint, path, err);
    dev_t there;

    if (r < 0)
        return r;
    if (wr_mountpoint_device(path, &there) < 0)
        return wr_fail(err, WEIR_ENOENT, "'%s': is no mount of weir",
                       mountpoint);
    /* The kernel closes the files of a program's io_uring only after its end. */
    for (unsigned i = 0; i < BUSY_TRIES; i++) {
        r = wr_mountpoint_unmount(path, lazy);
        if (r != -EBUSY || lazy)
            break;
        wr_clock_sleep_until(wr_clock_ns() + BUSY_NS);
    }
    if (r == -EBUSY && !lazy)
        return wr_fail(err, WEIR_ESTATE,
                       "'%s': is in use; --force takes it out of sight at once",
                       mountpoint);
    return r < 0 ? wr_fail_errno(err, -r, "'%s': cannot unmount", mountpoint)
                 : 0;
}
