/* collect.c - collects what the processes of a traced command record.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/collect/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "trace/collect/state.h"

#define SAMPLE_EVERY 64 /* over the budget: one event of so many */
#define SAMPLE_NS    (500 * WR_NS_PER_MS)
#define MOST_SAMPLED 64 /* processes whose /proc is looked at */
#define SKEW         (UINT64_C(1) << 26) /* stamps: clocks of two cores */

/* --- time --- */

static bool clock_is_tsc(void)
{
    char name[32] = "";
    FILE *f = fopen(
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "re");

#if !defined(__x86_64__)
    if (f)
        fclose(f);
    return false;
#endif
    if (!f)
        return false;
    if (!fgets(name, sizeof(name), f))
        name[0] = '\0';
    fclose(f);
    return !strcmp(name, "tsc\n");
}

static uint64_t stamp_now(const struct wr_collect *c)
{
#if defined(__x86_64__)
    if (c->control->tsc)
        return __builtin_ia32_rdtsc();
#endif
    return wr_clock_ns();
}

/* The longer the run, the better the CPU's counter is known. */
static void calibrate(struct wr_collect *c)
{
    uint64_t ns = wr_clock_ns() - c->start_ns;
    uint64_t stamps = stamp_now(c) - c->start_stamp;

    if (c->control->tsc && stamps)
        c->ns_per_stamp = (double)ns / (double)stamps;
    else
        c->ns_per_stamp = 1;
}

/* A stamp that is still to come was not written by the library: it is now. (One
 * of a machine that has booted since is of a clock that is gone.) */
static uint64_t past_stamp(const struct wr_collect *c, uint64_t stamp)
{
    uint64_t now = stamp_now(c) + SKEW;

    return WR_MIN(stamp, now < c->start_stamp ? UINT64_MAX >> 3 : now);
}

uint64_t wr_collect_ns(const struct wr_collect *c, uint64_t stamp)
{
    stamp = past_stamp(c, stamp);
    if (stamp <= c->start_stamp)
        return 0;
    return (uint64_t)((double)(stamp - c->start_stamp) * c->ns_per_stamp);
}

bool wr_collect_is_past(const struct wr_collect *c, uint64_t stamp,
                        uint64_t duration)
{
    return stamp <= UINT64_MAX - duration &&
           past_stamp(c, stamp + duration) == stamp + duration;
}

static uint64_t stamp_at(const struct wr_collect *c, uint64_t ns)
{
    return ns <= c->start_ns
               ? c->start_stamp
               : c->start_stamp +
                     (uint64_t)((double)(ns - c->start_ns) / c->ns_per_stamp);
}

/* --- processes that come and go --- */

/* Who forked it, or what it was before it executed another program, or who
 * started it. */
static struct wr_tapped *parent_of(struct wr_collect *c, struct wr_tapped *t)
{
    struct wr_tapped *found = NULL;

    if (t->kept.parent)
        return t->kept.parent <= c->tap_count ? c->taps[t->kept.parent - 1]
                                              : NULL;
    for (size_t i = t->number - 1; i-- > c->oldest && !found;) {
        struct wr_tapped *o = c->taps[i];

        if (!o || !o->head)
            continue;
        if (o->kept.pid == t->kept.pid) {
            o->replaced = true;
            found = o;
        }
    }
    for (size_t i = t->number - 1; i-- > c->oldest && !found;) {
        struct wr_tapped *o = c->taps[i];

        if (o && o->kept.pid == t->kept.parent_pid && !o->replaced)
            found = o;
    }
    return found;
}

static void begin_tap(struct wr_collect *c, struct wr_tapped *t)
{
    t->parent = parent_of(c, t);
    if (t->kept.parent) {
        if (t->parent && t->parent->named_cwd)
            t->named_cwd = strdup(t->parent->named_cwd);
    } else {
        t->named_cwd = strdup(t->kept.cwd);
    }
    t->cwd = t->named_cwd ? strdup(t->named_cwd) : NULL;
    t->process = c->processes++;
    c->taps[t->number - 1] = t;
    wr_collect_process(c, t);
    if (c->kernel)
        wr_kernel_tapped(c->kernel, t);
}

static void find_new(struct wr_collect *c)
{
    size_t count = __atomic_load_n(&c->control->processes, __ATOMIC_ACQUIRE);
    weir_err err;

    if (count > UINT32_MAX / 2 ||
        !wr_grow(&c->taps, &c->tap_cap, count, sizeof(*c->taps)))
        return;
    while (c->tap_count < count)
        c->taps[c->tap_count++] = NULL;
    for (size_t i = c->oldest; i < count; i++) {
        struct wr_tapped *t = NULL;

        if (c->taps[i] || wr_tapped_open(&t, c->folder, (uint32_t)i + 1,
                                         /* keep= */ c->adopted, &err) <= 0)
            continue;
        if (t->kept.parent && !c->adopted &&
            (t->kept.parent > i || !c->taps[t->kept.parent - 1])) {
            wr_tapped_free(t); /* next time: its parent comes first */
            continue;
        }
        begin_tap(c, t);
    }
}

static bool is_gone(const struct wr_collect *c, const struct wr_tapped *t)
{
    if (t->replaced)
        return true;
    return t->kept.pid_space == c->pid_space && kill(t->kept.pid, 0) < 0 &&
           errno == ESRCH;
}

struct wr_tapped *wr_collect_newest(struct wr_collect *c, pid_t pid)
{
    for (size_t i = c->tap_count; i-- > 0;)
        if (c->taps[i] && c->taps[i]->kept.pid == pid)
            return c->taps[i];
    return NULL;
}

/* Its counters are in its parent's by now, or will be. */
static void tell_parent(struct wr_collect *c, const struct wr_tapped *t)
{
    const struct wr_tap_io *io = &t->kept.io, *b = &t->kept.base;
    const struct wr_tapped *p = t->parent;
    struct wr_tapped *now;

    while (p && p->kept.pid == t->kept.pid)
        p = p->parent;
    now = p ? wr_collect_newest(c, p->kept.pid) : NULL;
    if (!now || !(now->head || now->made))
        return;
    if (!t->kept.magic) { /* its counters are as old as its last sample */
        now->reaped.rchar += t->read;
        now->reaped.wchar += t->written;
    }
    if (!t->kept.magic || io->rchar == UINT64_MAX)
        return;
    now->reaped.rchar += wr_collect_since(io->rchar, b->rchar);
    now->reaped.wchar += wr_collect_since(io->wchar, b->wchar);
    now->reaped.read_bytes += wr_collect_since(io->read_bytes, b->read_bytes);
    now->reaped.write_bytes += wr_collect_since(io->write_bytes,
                                                b->write_bytes);
}

static void add_kernel_counts(struct wr_collect *c, const struct wr_tapped *t)
{
    struct wr_tap_io io = wr_collect_own_io(t);

    if (io.rchar != UINT64_MAX) {
        c->sum.kernel_read += io.rchar;
        c->sum.kernel_written += io.wchar;
        c->sum.device_read += io.read_bytes;
        c->sum.device_written += io.write_bytes;
        c->sum.matched_read += WR_MIN(t->read, io.rchar);
        c->sum.matched_written += WR_MIN(t->written, io.wchar);
    }
    if (io.major_faults != UINT64_MAX)
        c->sum.major_faults += io.major_faults;
}

static void end_tap(struct wr_collect *c, struct wr_tapped *t)
{
    uint64_t ended = t->head->end;

    wr_drain_tallies(c, t);
    wr_tapped_detach(t, c->folder);
    if (t->kept.ended && t->status < 0)
        t->status = (t->kept.status & 255) << 8;
    if (ended)
        t->end_ns = wr_collect_ns(c, ended);
    else if (!c->adopted) /* that one may have ended long ago */
        t->end_ns = wr_clock_ns() - c->start_ns;
    c->sum.lost_events += t->kept.lost_events;
    c->sum.lost_names += t->kept.lost_names;
    c->sum.nested_events += t->kept.nested_events;
    add_kernel_counts(c, t);
    tell_parent(c, t);
    wr_collect_process(c, t);
}

/* --- processes without a library --- */

/* The counters go on when a process executes another program. */
static struct wr_tap_io counters_after(const struct wr_tapped *t)
{
    struct wr_tap_io io = t->head ? t->head->io : t->kept.io;
    const struct wr_tap_io *b = &t->kept.base;

    if (!t->kept.magic || io.rchar == UINT64_MAX) /* by what was seen of it */
        io = (struct wr_tap_io){.rchar = b->rchar + t->read,
                                .wchar = b->wchar + t->written};
    return io;
}

struct wr_tapped *wr_collect_make(struct wr_collect *c, pid_t pid,
                                  struct wr_tapped *parent, uint64_t start_ns)
{
    uint32_t number = __atomic_add_fetch(&c->control->processes, 1,
                                         __ATOMIC_ACQ_REL);
    struct wr_tapped *t = calloc(1, sizeof(*t));

    if (!t || !wr_grow(&c->taps, &c->tap_cap, number, sizeof(*c->taps))) {
        free(t);
        return NULL;
    }
    while (c->tap_count < number)
        c->taps[c->tap_count++] = NULL;
    t->number = number;
    t->made = true;
    t->parent = parent;
    t->status = -1;
    t->end_ns = UINT64_MAX;
    t->kept = (struct wr_tap_process){.number = number,
                                      .pid = pid,
                                      .rank = -1,
                                      .world = -1,
                                      .threads = 1,
                                      .status = -1,
                                      .pid_space = c->pid_space,
                                      .start = stamp_at(c, start_ns)};
    memset(&t->kept.io, 255, sizeof(t->kept.io));
    if (parent && parent->kept.pid == pid) {
        parent->replaced = true;
        t->kept.base = counters_after(parent);
    }
    t->process = c->processes++;
    c->taps[number - 1] = t;
    return t;
}

void wr_collect_unmake(struct wr_collect *c, struct wr_tapped *t,
                       uint64_t end_ns)
{
    t->made = false;
    t->end_ns = end_ns < c->start_ns ? 0 : end_ns - c->start_ns;
    free(t->maps);
    t->maps = NULL;
    t->map_count = t->map_cap = 0;
    add_kernel_counts(c, t);
    tell_parent(c, t);
    wr_collect_process(c, t);
}

int wr_collect_kernel(struct wr_collect *c, pid_t pid, weir_err *err)
{
    int r = wr_kernel_open(&c->kernel, c, pid, err);

    c->sum.by_kernel = r == 0;
    c->control->kernel = r == 0;
    return r;
}

/* --- faults --- */

static void on_fault(void *arg, const struct wr_fault *fault)
{
    struct wr_collect *c = arg;
    struct wr_trace_event e = {.thread = fault->tid,
                               .file = WR_TRACE_NO_FILE,
                               .file2 = WR_TRACE_NO_FILE,
                               .op = WR_TRACE_FAULT,
                               .offset = UINT64_MAX,
                               .bytes = (uint64_t)sysconf(_SC_PAGESIZE)};
    const struct wr_tapped_map *m = NULL;
    struct wr_tapped *t = NULL;

    for (size_t i = c->tap_count; i-- > c->oldest && !t;)
        if (c->taps[i] && c->taps[i]->kept.pid == (int32_t)fault->pid)
            t = c->taps[i];
    if (!t || fault->at_ns < c->start_ns)
        return;
    m = wr_tapped_map_at(t, fault->address);
    if (m) {
        e.file = m->file;
        e.offset = m->off + (fault->address - m->at) / e.bytes * e.bytes;
    }
    e.process = t->process;
    e.start_ns = fault->at_ns - c->start_ns;
    wr_collect_event(c, &e);
}

bool wr_collect_faults(struct wr_collect *c, pid_t pid)
{
    weir_err err;

    return wr_faults_open(&c->faults, pid, &err) == 0;
}

/* --- a round --- */

static void sample_all(struct wr_collect *c)
{
    size_t sampled = 0;

    c->next_sample_ns = wr_clock_ns();
    for (size_t i = c->tap_count; i-- > c->oldest && sampled < MOST_SAMPLED;) {
        struct wr_tapped *t = c->taps[i];

        if (!t || !t->head || t->kept.pid_space != c->pid_space)
            continue;
        sampled++;
        if (!t->head->ended)
            wr_sample_io(t);
        if (!c->kernel) /* which tells of each request */
            wr_sample_rings(c, t);
    }
    if (c->kernel)
        wr_kernel_sample(c->kernel);
    c->next_sample_ns += SAMPLE_NS;
}

static void each(struct wr_collect *c,
                 void (*fn)(struct wr_collect *c, struct wr_tapped *t))
{
    for (size_t i = c->oldest; i < c->tap_count; i++)
        if (c->taps[i] && c->taps[i]->head)
            fn(c, c->taps[i]);
}

static void take_limits(struct wr_collect *c, struct wr_tapped *t)
{
    (void)c;
    wr_drain_limits(t);
}

/* Who is gone is asked before the limits are taken: what it had committed is
 * below them. */
static void drain_all(struct wr_collect *c, bool is_end)
{
    size_t gone = 0, *list = NULL, cap = 0;

    if (c->kernel)
        wr_kernel_limit(c->kernel);
    find_new(c);
    for (size_t i = c->oldest; i < c->tap_count; i++)
        if (c->taps[i] && c->taps[i]->head &&
            (is_end || is_gone(c, c->taps[i])) &&
            wr_grow(&list, &cap, gone + 1, sizeof(*list)))
            list[gone++] = i;
    each(c, take_limits);
    each(c, wr_drain_names);
    each(c, wr_drain_events);
    if (c->kernel)
        wr_kernel_drain(c->kernel);
    while (gone) /* children before their parents */
        end_tap(c, c->taps[list[--gone]]);
    free(list);
    while (c->oldest < c->tap_count && c->taps[c->oldest] &&
           !c->taps[c->oldest]->head && !c->taps[c->oldest]->made)
        c->oldest++;
}

void wr_collect_drain(struct wr_collect *c)
{
    calibrate(c);
    if (wr_clock_ns() >= c->next_sample_ns)
        sample_all(c);
    drain_all(c, /* is_end= */ false);
    if (c->faults)
        wr_faults_drain(c->faults, on_fault, c);
    wr_collect_flush(c);
}

void wr_collect_sum(const struct wr_collect *c, struct wr_collect_sum *ret)
{
    *ret = c->sum;
    ret->files = wr_names_count(c->names);
    ret->processes = c->processes;
    ret->unseen_processes = __atomic_load_n(&c->control->unseen,
                                            __ATOMIC_RELAXED);
}

size_t wr_collect_running(struct wr_collect *c)
{
    size_t n = 0;

    for (size_t i = c->oldest; i < c->tap_count; i++)
        n += c->taps[i] && c->taps[i]->head && !c->taps[i]->head->ended &&
             !is_gone(c, c->taps[i]);
    return c->kernel ? n + wr_kernel_running(c->kernel) : n;
}

void wr_collect_zombie(struct wr_collect *c, pid_t pid)
{
    struct wr_tapped *t;

    if (c->kernel && usleep(1000) == 0) /* its last records are in the rings */
        wr_collect_drain(c);
    find_new(c);
    t = wr_collect_newest(c, pid);
    if (t && (t->head || t->made))
        wr_sample_io(t);
}

void wr_collect_status(struct wr_collect *c, pid_t pid, int status)
{
    struct wr_tapped *t = wr_collect_newest(c, pid);

    if (t)
        t->status = status;
}

/* --- begin and end --- */

/* In memory; where there is none, in a folder for temporary files. */
const char *wr_collect_place(size_t i)
{
    const char *const places[WR_COLLECT_PLACES] = {"/dev/shm", getenv("TMPDIR"),
                                                   "/tmp"};
    const char *place = i < WR_COLLECT_PLACES ? places[i] : NULL;

    return place && *place == '/' && strlen(place) < 100 ? place : NULL;
}

uint64_t wr_collect_pid_space(void)
{
    struct stat st;

    return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

static int make_folder(struct wr_collect *c, weir_err *err)
{
    for (size_t i = 0; i < WR_COLLECT_PLACES; i++) {
        const char *place = wr_collect_place(i);

        if (!place)
            continue;
        snprintf(c->folder, sizeof(c->folder), "%s/" WR_COLLECT_FOLDER "XXXXXX",
                 place);
        if (mkdtemp(c->folder))
            return 0;
    }
    c->folder[0] = '\0';
    return wr_fail_errno(err, errno, "no folder for the trace's memory");
}

static void fill_control(struct wr_collect *c,
                         const struct wr_collect_config *cfg)
{
    struct wr_tap_control *k = c->control;
    char cwd[512];
    bool is_whole = *cfg->output == '/' || !getcwd(cwd, sizeof(cwd));

    k->tsc = clock_is_tsc();
    k->budget_bytes = cfg->budget_bytes;
    k->sample_every = SAMPLE_EVERY;
    k->pid = (uint32_t)getpid();
    k->anonymous = cfg->anonymous;
    k->no_arguments = cfg->no_arguments;
    snprintf(k->output, sizeof(k->output), "%s%s%s", is_whole ? "" : cwd,
             is_whole ? "" : "/", cfg->output);
    k->start_wall_ns = wr_clock_wall_ns();
    k->start_stamp = stamp_now(c);
    k->start_ns = wr_clock_ns();
    k->magic = WR_TAP_MAGIC;
}

/* Locked before it has a size: to others it is nobody's from then on. */
static int make_control(struct wr_collect *c,
                        const struct wr_collect_config *cfg, weir_err *err)
{
    char path[160];
    int fd, r;

    snprintf(path, sizeof(path), "%s/control", c->folder);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return wr_fail_errno(err, errno, "'%s'", path);
    c->control_fd = fd;
    r = flock(fd, LOCK_EX | LOCK_NB) < 0 ? errno : posix_fallocate(fd, 0, 4096);
    if (r == 0) {
        c->control = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                          0);
        r = c->control == MAP_FAILED ? errno : 0;
    }
    if (r) {
        c->control = NULL;
        return wr_fail_errno(err, r, "'%s'", path);
    }
    fill_control(c, cfg);
    return 0;
}

static void remove_folder(struct wr_collect *c)
{
    char path[160];

    if (!c->folder[0])
        return;
    for (size_t i = 0; i < c->tap_count; i++) {
        snprintf(path, sizeof(path), "%s/p%zu", c->folder, i + 1);
        unlink(path);
    }
    snprintf(path, sizeof(path), "%s/control", c->folder);
    unlink(path);
    rmdir(c->folder);
}

static void free_all(struct wr_collect *c)
{
    wr_kernel_close(c->kernel);
    remove_folder(c);
    if (c->control)
        munmap(c->control, 4096);
    if (c->control_fd >= 0)
        close(c->control_fd);
    for (size_t i = 0; i < c->tap_count; i++)
        wr_tapped_free(c->taps[i]);
    free(c->taps);
    wr_counted_clear(&c->counted);
    wr_faults_close(c->faults);
    wr_names_free(c->names);
    free(c);
}

static struct wr_collect *new_collect(const struct wr_collect_config *cfg,
                                      weir_err *err)
{
    struct wr_collect *c = calloc(1, sizeof(*c));

    if (!c || wr_names_new(&c->names, cfg->anonymous, err) < 0) {
        free(c);
        wr_fail(err, WEIR_ENOMEM, "the collector of a trace");
        return NULL;
    }
    c->control_fd = -1;
    c->anonymous = cfg->anonymous;
    c->no_arguments = cfg->anonymous || cfg->no_arguments;
    c->pid_space = wr_collect_pid_space();
    snprintf(c->host, sizeof(c->host), "%s",
             cfg->info->host ? cfg->info->host : "");
    c->ns_per_stamp = 1;
    return c;
}

/* Its file, and the clocks of its control file. */
static int begin_trace(struct wr_collect *c,
                       const struct wr_collect_config *cfg, weir_err *err)
{
    c->start_stamp = c->control->start_stamp;
    c->start_ns = c->control->start_ns;
    return wr_trace_writer_open(&c->writer, cfg->output, cfg->info, err);
}

int wr_collect_open(struct wr_collect **ret,
                    const struct wr_collect_config *cfg, weir_err *err)
{
    struct wr_collect *c = new_collect(cfg, err);
    int r;

    if (!c)
        return WEIR_ENOMEM;
    r = make_folder(c, err);
    if (r == 0)
        r = make_control(c, cfg, err);
    if (r == 0)
        r = begin_trace(c, cfg, err);
    if (r < 0)
        free_all(c);
    else
        *ret = c;
    return r;
}

int wr_collect_adopt(struct wr_collect **ret, const char *folder,
                     struct wr_collect_control *taken,
                     const struct wr_collect_config *cfg, weir_err *err)
{
    struct wr_collect *c = new_collect(cfg, err);
    int r;

    if (!c) {
        munmap(taken->control, 4096);
        close(taken->fd);
        return WEIR_ENOMEM;
    }
    c->adopted = true;
    c->control = taken->control;
    c->control_fd = taken->fd;
    r = begin_trace(c, cfg, err);
    if (r < 0) {
        free_all(c);
        return r;
    }
    snprintf(c->folder, sizeof(c->folder), "%s", folder);
    *ret = c;
    return 0;
}

const char *wr_collect_folder(const struct wr_collect *c)
{
    return c->folder;
}

int wr_collect_close(struct wr_collect *c, const struct wr_trace_info *info,
                     struct wr_collect_sum *ret_sum, weir_err *err)
{
    size_t running = wr_collect_running(c);
    struct wr_trace_info own = *info;
    int r = 0;

    __atomic_store_n(&c->control->closed, 1, __ATOMIC_RELEASE);
    wr_collect_drain(c);
    if (c->kernel) {
        find_new(c);
        wr_kernel_finish(c->kernel);
    }
    drain_all(c, /* is_end= */ true);
    wr_collect_flush(c);
    wr_collect_counts(c);
    if (!c->adopted)
        wr_collect_residency(c);
    wr_collect_sum(c, ret_sum);
    ret_sum->still_running = running;
    own.by_kernel = c->sum.by_kernel;
    own.lost_records = c->sum.lost_records;
    if (c->writer)
        r = wr_trace_writer_close(c->writer, &own, err);
    else
        r = wr_fail_as(err, c->failure.code, &c->failure);
    if (r < 0 && c->adopted)
        c->folder[0] = '\0'; /* it stays, for a disk with space */
    free_all(c);
    return r;
}
