/* kernel_process.c - processes, as the kernel's records tell of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/procfs.h"
#include "trace/collect/kernel_state.h"
#include "trace/preload/rank.h"

#define MOST_FDS (1 << 20)

bool wr_kernel_link(uint32_t pid, const char *name, char *buf, size_t cap)
{
    char path[64];
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
    n = readlink(path, buf, cap - 1);
    if (n <= 0)
        return false;
    buf[n] = '\0';
    return true;
}

uint32_t wr_kernel_name(struct wr_kernel *k, const char *path)
{
    return wr_collect_name(k->c, path);
}

struct wr_kernel_fd *wr_kernel_fd_at(struct wr_kernel_process *p, uint64_t fd)
{
    size_t old = p->fd_cap;

    if (fd >= MOST_FDS ||
        !wr_grow(&p->fds, &p->fd_cap, (size_t)fd + 1, sizeof(*p->fds)))
        return NULL;
    for (size_t i = old; i < p->fd_cap; i++)
        p->fds[i] = (struct wr_kernel_fd){0};
    return &p->fds[fd];
}

void wr_kernel_fd_forget(struct wr_kernel_process *p, uint64_t first,
                         uint64_t last)
{
    for (uint64_t fd = first; fd <= last && fd < p->fd_cap; fd++)
        p->fds[fd] = (struct wr_kernel_fd){0};
}

/* Opened before its program began, or out of sight: /proc knows its name as
 * long as it is open. */
struct wr_kernel_fd *wr_kernel_fd_of(struct wr_kernel *k,
                                     struct wr_kernel_process *p, uint64_t fd)
{
    struct wr_kernel_fd *f = wr_kernel_fd_at(p, fd);
    char name[32], target[4096];

    if (!f || f->known)
        return f;
    snprintf(name, sizeof(name), "fd/%u", (unsigned)fd);
    f->known = true;
    f->file = WR_TRACE_NO_FILE;
    if (wr_kernel_link(p->pid, name, target, sizeof(target)))
        f->file = wr_kernel_name(k, target);
    else
        k->c->sum.unnamed_files++;
    return f;
}

uint32_t wr_kernel_file_of(struct wr_kernel *k, struct wr_kernel_process *p,
                           uint64_t fd)
{
    const struct wr_kernel_fd *f = wr_kernel_fd_of(k, p, fd);

    return f ? f->file : WR_TRACE_NO_FILE;
}

bool wr_kernel_path(struct wr_kernel *k, struct wr_kernel_process *p,
                    int folder, const char *text, char buf[8192])
{
    const char *from = p->cwd;
    char cwd[4096];

    if (*text != '/' && folder != AT_FDCWD) {
        uint32_t file = wr_kernel_file_of(k, p, (unsigned)folder);

        from = file == WR_TRACE_NO_FILE ? NULL
                                        : wr_names_path(k->c->names, file);
    } else if (*text != '/' && !from &&
               wr_kernel_link(p->pid, "cwd", cwd, sizeof(cwd))) {
        from = p->cwd = strdup(cwd);
    }
    if (*text != '/' && (!from || *from != '/'))
        return false;
    wr_names_join(from ? from : "/", text, buf, 8192);
    return true;
}

#define MOST_WAITING 8192
#define NEAR_NS      50000 /* two clocks agree to within this */

void wr_kernel_thread_clear(struct wr_kernel_thread *t)
{
    free(t->paths[0]);
    free(t->paths[1]);
    t->paths[0] = t->paths[1] = NULL;
    t->now.call = NULL;
}

void wr_kernel_process_free(struct wr_kernel_process *p)
{
    free(p->cwd);
    free(p->program);
    free(p->fds);
    free(p->waiting);
    free(p);
}

/* --- what kind of program it is --- */

static bool is_loaded_by(const Elf64_Ehdr *head, int fd)
{
    for (unsigned i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr ph;
        off_t at = (off_t)(head->e_phoff + i * sizeof(ph));

        if (pread(fd, &ph, sizeof(ph), at) != (ssize_t)sizeof(ph))
            return true;
        if (ph.p_type == PT_INTERP)
            return true;
    }
    return false;
}

/* What the kernel executed; by its path if it has ended since. */
static int open_program(const struct wr_kernel_process *p)
{
    char path[64], name[4096];
    const char *slash;
    int fd = -1;

    if (wr_kernel_link(p->pid, "exe", name, sizeof(name))) {
        slash = strrchr(name, '/');
        snprintf(path, sizeof(path), "/proc/%u/exe", p->pid);
        if (!strncmp(slash ? slash + 1 : name, p->comm, sizeof(p->comm) - 1))
            fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (fd < 0 && p->program)
        fd = open(p->program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd;
}

/* A program that no loader loads cannot have the library; others may not have
 * it either, which time tells. */
static int view_of_program(const struct wr_kernel_process *p)
{
    int fd = open_program(p), view = WR_KERNEL_UNDECIDED;
    Elf64_Ehdr head;

    if (fd < 0)
        return view;
    if (pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
        !memcmp(head.e_ident, ELFMAG, SELFMAG)) {
        if (head.e_ident[EI_CLASS] != ELFCLASS64)
            view = WR_KERNEL_FOREIGN;
        else if (head.e_phentsize == sizeof(Elf64_Phdr) &&
                 !is_loaded_by(&head, fd))
            view = WR_KERNEL_ALONE;
    }
    close(fd);
    return view;
}

/* The library says where the code is that it stands in front of; a child has
 * its parent's. */
static void find_ranges(struct wr_kernel_process *p, const struct wr_tapped *t)
{
    const struct wr_tap_range *r = t->kept.wrapped;

    if (t->kept.parent)
        return;
    p->range_count = 0;
    for (unsigned i = 0; i < WR_TAP_RANGES && r[i].to; i++)
        p->ranges[p->range_count++] = r[i];
}

bool wr_kernel_takes(const struct wr_kernel_process *p, uint64_t ip)
{
    if (p->view != WR_KERNEL_LIBRARY)
        return p->view != WR_KERNEL_FOREIGN;
    if (!p->tap || !p->range_count || !ip)
        return false;
    for (unsigned i = 0; i < p->range_count; i++)
        if (ip >= p->ranges[i].from && ip <= p->ranges[i].to)
            return false;
    return true;
}

/* --- events --- */

static void write_event(struct wr_kernel *k, struct wr_tapped *t,
                        const struct wr_trace_event *e)
{
    struct wr_trace_event own = *e;

    own.process = t->process;
    wr_tapped_match(t, e);
    k->c->sum.kernel_events++;
    wr_collect_event(k->c, &own);
}

void wr_kernel_event(struct wr_kernel *k, struct wr_kernel_process *p,
                     const struct wr_trace_event *e)
{
    wr_kernel_check(k, p, k->c->start_ns + e->start_ns);
    if (p->view != WR_KERNEL_UNDECIDED) {
        if (p->tap)
            write_event(k, p->tap, e);
        return;
    }
    if (!wr_grow(&p->waiting, &p->waiting_cap, p->waiting_count + 1,
                 sizeof(*p->waiting)))
        return;
    p->waiting[p->waiting_count++] = *e;
    if (p->waiting_count >= MOST_WAITING)
        wr_kernel_decide(k, p);
}

/* --- a program that is seen here alone --- */

static void read_words(uint32_t pid, const char *name, char *buf, size_t cap)
{
    char path[64];
    int n;

    snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
    n = wr_procfs_read_path(path, buf, cap);
    if (n <= 0)
        buf[0] = '\0';
    for (int i = 0; i + 1 < n; i++)
        if (!buf[i])
            buf[i] = ' ';
}

static void describe(const struct wr_kernel_process *p, struct wr_tapped *t)
{
    char *environment = calloc(1, 65536);

    if (!wr_kernel_link(p->pid, "exe", t->kept.program,
                        sizeof(t->kept.program)))
        snprintf(t->kept.program, sizeof(t->kept.program), "%s",
                 p->program ? p->program : p->comm);
    read_words(p->pid, "cmdline", t->kept.argv, sizeof(t->kept.argv));
    if (!t->kept.argv[0])
        snprintf(t->kept.argv, sizeof(t->kept.argv), "%s",
                 p->program ? p->program : p->comm);
    if (p->cwd)
        snprintf(t->kept.cwd, sizeof(t->kept.cwd), "%s", p->cwd);
    if (environment) {
        char path[64];
        int n;

        snprintf(path, sizeof(path), "/proc/%u/environ", p->pid);
        n = wr_procfs_read_path(path, environment, 65536);
        if (n > 0)
            wr_rank_of(environment, (size_t)n, &t->kept.rank, &t->kept.world);
    }
    free(environment);
}

/* Whose child it is, or what it was before. */
static struct wr_tapped *predecessor(struct wr_kernel *k,
                                     const struct wr_kernel_process *p)
{
    struct wr_tapped *t = wr_collect_newest(k->c, (pid_t)p->pid);

    return t ? t : wr_collect_newest(k->c, (pid_t)p->parent_pid);
}

static void becomes_alone(struct wr_kernel *k, struct wr_kernel_process *p,
                          bool is_fork)
{
    struct wr_tapped *t = wr_collect_make(k->c, (pid_t)p->pid,
                                          predecessor(k, p), p->since_ns);

    if (!t)
        return;
    if (!is_fork)
        describe(p, t);
    t->cwd = p->cwd ? strdup(p->cwd) : NULL;
    p->tap = t;
    p->view = WR_KERNEL_ALONE;
    k->alone++;
    wr_collect_process(k->c, t);
    for (size_t i = 0; i < p->waiting_count; i++)
        write_event(k, t, &p->waiting[i]);
    p->waiting_count = 0;
}

/* The library's process, if it is of the program that runs now. */
static struct wr_tapped *library_of(struct wr_kernel *k,
                                    const struct wr_kernel_process *p,
                                    uint64_t until_ns)
{
    struct wr_tapped *t = wr_keyed_at(&k->taps, p->pid);
    uint64_t start;

    if (!t)
        return NULL;
    start = k->c->start_ns + wr_collect_ns(k->c, t->kept.start);
    return start + NEAR_NS >= p->since_ns && start <= until_ns + NEAR_NS ? t
                                                                         : NULL;
}

void wr_kernel_check(struct wr_kernel *k, struct wr_kernel_process *p,
                     uint64_t now_ns)
{
    struct wr_tapped *t;

    if (p->view == WR_KERNEL_FOREIGN ||
        (p->view == WR_KERNEL_LIBRARY && p->tap))
        return;
    t = library_of(k, p, now_ns);
    if (!t)
        return;
    if (p->view == WR_KERNEL_ALONE)
        wr_kernel_program_ends(k, p, now_ns);
    p->waiting_count = 0; /* calls of the loader: the library was not there */
    p->view = WR_KERNEL_LIBRARY;
    p->tap = t;
    find_ranges(p, t);
}

void wr_kernel_decide(struct wr_kernel *k, struct wr_kernel_process *p)
{
    wr_kernel_check(k, p, UINT64_MAX - NEAR_NS);
    if (p->view == WR_KERNEL_UNDECIDED)
        becomes_alone(k, p, /* is_fork= */ false);
}

void wr_kernel_program_ends(struct wr_kernel *k, struct wr_kernel_process *p,
                            uint64_t at_ns)
{
    if (p->view == WR_KERNEL_UNDECIDED && p->waiting_count)
        wr_kernel_decide(k, p); /* it was too short for the library, or not */
    if (p->view == WR_KERNEL_ALONE && p->tap) {
        if (p->tap->status < 0)
            p->tap->status = p->status;
        wr_sample_io(p->tap);
        wr_collect_unmake(k->c, p->tap, at_ns);
        k->alone--;
    }
    p->tap = NULL;
    p->waiting_count = 0;
}

/* Its first calls may be behind records that are not read yet. */
void wr_kernel_tapped(struct wr_kernel *k, struct wr_tapped *t)
{
    (void)wr_keyed_put(&k->taps, (uint64_t)t->kept.pid, t);
}

/* --- they come and go --- */

struct wr_kernel_process *wr_kernel_process_of(struct wr_kernel *k,
                                               uint32_t pid, uint64_t now_ns)
{
    struct wr_kernel_process *p = wr_keyed_at(&k->processes, pid);

    if (p)
        return p;
    p = calloc(1, sizeof(*p));
    if (!p || !wr_keyed_put(&k->processes, pid, p)) {
        free(p);
        return NULL;
    }
    p->pid = pid;
    p->since_ns = now_ns;
    p->status = -1;
    p->registered = WR_TRACE_NO_FILE;
    return p;
}

struct wr_kernel_thread *wr_kernel_thread_of(struct wr_kernel *k, uint32_t pid,
                                             uint32_t tid, uint64_t now_ns)
{
    struct wr_kernel_thread *t = wr_keyed_at(&k->threads, tid);
    struct wr_kernel_process *p;

    if (t && t->process->pid == pid)
        return t;
    p = wr_kernel_process_of(k, pid, now_ns);
    if (!t && p) {
        t = calloc(1, sizeof(*t));
        if (!t || !wr_keyed_put(&k->threads, tid, t)) {
            free(t);
            return NULL;
        }
        t->tid = tid;
    }
    if (!t || !p)
        return NULL;
    t->process = p;
    p->threads++;
    if (p->tap && p->view == WR_KERNEL_ALONE)
        p->tap->kept.threads = WR_MAX(p->tap->kept.threads, p->threads);
    return t;
}

/* What a child has of its parent. */
static void inherit(struct wr_kernel_process *p,
                    const struct wr_kernel_process *parent)
{
    p->cwd = parent->cwd ? strdup(parent->cwd) : NULL;
    memcpy(p->comm, parent->comm, sizeof(p->comm));
    memcpy(p->ranges, parent->ranges, sizeof(p->ranges));
    p->range_count = parent->range_count;
    if (wr_grow(&p->fds, &p->fd_cap, parent->fd_cap, sizeof(*p->fds)))
        memcpy(p->fds, parent->fds, parent->fd_cap * sizeof(*p->fds));
    for (size_t i = 0; i < p->fd_cap; i++) {
        if (i >= parent->fd_cap)
            p->fds[i] = (struct wr_kernel_fd){0};
        p->fds[i].is_placed = false; /* both move one position */
    }
}

void wr_kernel_on_fork(struct wr_kernel *k, const struct wr_ring_record *r)
{
    struct wr_kernel_process *parent, *p;

    if (r->pid == r->parent_pid) {
        (void)wr_kernel_thread_of(k, r->pid, r->tid, r->time_ns);
        return;
    }
    parent = wr_kernel_process_of(k, r->parent_pid, r->time_ns);
    if (!parent || !wr_kernel_thread_of(k, r->pid, r->tid, r->time_ns))
        return;
    wr_kernel_decide(k, parent); /* a loader starts no processes */
    p = wr_keyed_at(&k->processes, r->pid);
    p->parent_pid = r->parent_pid;
    inherit(p, parent);
    for (size_t i = 0; i < parent->fd_cap; i++)
        parent->fds[i].is_placed = false;
    if (parent->view == WR_KERNEL_ALONE) {
        becomes_alone(k, p, /* is_fork= */ true);
        return;
    }
    p->view = parent->view;
}

static void end_other_threads(struct wr_kernel *k, struct wr_kernel_process *p)
{
    struct wr_kernel_thread **list = calloc(k->threads.map.count + 1,
                                            sizeof(*list));
    size_t n = 0;

    for (size_t i = 0; list && i < k->threads.map.cap; i++) {
        struct wr_kernel_thread *t = wr_keyed_in(&k->threads, i);

        if (t && t->process == p && t->tid != p->pid)
            list[n++] = t;
    }
    while (n) {
        struct wr_kernel_thread *t = list[--n];

        wr_keyed_remove(&k->threads, t->tid);
        wr_kernel_thread_clear(t);
        free(t);
    }
    free(list);
    p->threads = 1;
}

void wr_kernel_on_exec(struct wr_kernel *k, const struct wr_ring_record *r)
{
    struct wr_kernel_thread *t = wr_kernel_thread_of(k, r->pid, r->pid,
                                                     r->time_ns);
    struct wr_kernel_process *p = t ? t->process : NULL;
    char cwd[4096];

    if (!p)
        return;
    wr_kernel_program_ends(k, p, r->time_ns);
    if (p->threads > 1)
        end_other_threads(k, p);
    wr_kernel_thread_clear(t);
    wr_kernel_fd_forget(p, 3, UINT64_MAX); /* the first three are kept */
    snprintf(p->comm, sizeof(p->comm), "%s", r->comm);
    if (!p->cwd && wr_kernel_link(p->pid, "cwd", cwd, sizeof(cwd)))
        p->cwd = strdup(cwd);
    p->since_ns = r->time_ns;
    p->range_count = 0;
    p->asked_registered = false;
    p->registered = WR_TRACE_NO_FILE;
    p->view = view_of_program(p);
    if (p->view == WR_KERNEL_ALONE) {
        becomes_alone(k, p, /* is_fork= */ false);
    } else if (p->view == WR_KERNEL_FOREIGN) {
        k->c->sum.foreign_processes++;
    }
}

void wr_kernel_on_exit(struct wr_kernel *k, const struct wr_ring_record *r)
{
    struct wr_kernel_thread *t = wr_keyed_remove(&k->threads, r->tid);
    struct wr_kernel_process *p;

    if (!t)
        return;
    p = t->process;
    wr_kernel_thread_clear(t);
    free(t);
    if (p->threads > 1) {
        p->threads--;
        return;
    }
    wr_kernel_program_ends(k, p, r->time_ns);
    wr_keyed_remove(&k->processes, p->pid);
    wr_kernel_process_free(p);
}
