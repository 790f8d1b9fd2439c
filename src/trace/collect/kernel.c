/* kernel.c - what the kernel sees of a command: calls that no library can.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/collect/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/procfs.h"
#include "trace/collect/kernel_state.h"

/* --- pointers by number --- */

void *wr_keyed_at(const struct wr_keyed *t, uint64_t key)
{
    const struct wr_map_pointer *e = wr_map_find(&t->map, key + 1);

    return e ? e->value : NULL;
}

bool wr_keyed_put(struct wr_keyed *t, uint64_t key, void *value)
{
    struct wr_map_pointer *e = wr_map_find(&t->map, key + 1);

    t->map.size = sizeof(*e);
    if (!e && key < UINT64_MAX)
        e = wr_map_add(&t->map, key + 1);
    if (e)
        e->value = value;
    return e != NULL;
}

void *wr_keyed_remove(struct wr_keyed *t, uint64_t key)
{
    struct wr_map_pointer *e = wr_map_find(&t->map, key + 1);
    void *value = e ? e->value : NULL;

    if (e)
        wr_map_drop(&t->map, e);
    return value;
}

void wr_keyed_done(struct wr_keyed *t)
{
    wr_map_done(&t->map);
}

#define FORMAT_MAX     16384
#define RECORD_MAX     8192
#define FSCONFIG_MAKE  6 /* FSCONFIG_CMD_CREATE */
#define CLOSE_ON_EXEC  1 /* of fsopen and fsmount */
#define SAMPLE_OF_THIS "events/raw_syscalls"

/* --- where it is --- */

/* A mount that belongs to no folder: it ends when it is closed. */
static int open_private(void)
{
#if defined(SYS_fsopen) && defined(SYS_fsconfig) && defined(SYS_fsmount)
    int fd = -1, fs = (int)syscall(SYS_fsopen, "tracefs", CLOSE_ON_EXEC);

    if (fs < 0)
        return -1;
    if (syscall(SYS_fsconfig, fs, FSCONFIG_MAKE, NULL, NULL, 0) == 0)
        fd = (int)syscall(SYS_fsmount, fs, CLOSE_ON_EXEC, 0);
    close(fs);
    return fd;
#else
    errno = ENOSYS;
    return -1;
#endif
}

static bool is_tracefs(int fd)
{
    return faccessat(fd, SAMPLE_OF_THIS, F_OK, 0) == 0;
}

/* The folder of tracefs: where it is mounted, or of a mount that no other
 * process sees (root only); a descriptor, closed by the caller. */
static int tracefs_open(int *ret_fd, weir_err *err)
{
    static const char *const places[] = {"/sys/kernel/tracing",
                                         "/sys/kernel/debug/tracing"};
    int fd, why = ENOENT;

    for (size_t i = 0; i < WR_ARRAY_LEN(places); i++) {
        fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 && is_tracefs(fd)) {
            *ret_fd = fd;
            return 0;
        }
        if (errno == EACCES)
            why = EACCES;
        if (fd >= 0)
            close(fd);
    }
    fd = open_private();
    if (fd >= 0 && is_tracefs(fd)) {
        *ret_fd = fd;
        return 0;
    }
    if (fd >= 0)
        close(fd);
    if (why == EACCES || errno == EPERM || errno == EACCES)
        return wr_fail(err, WEIR_EACCES,
                       "tracefs may not be read: run it as root (sudo), or "
                       "have root do 'mount -t tracefs -o "
                       "gid=GROUP,mode=0750 none /sys/kernel/tracing'");
    return wr_fail(err, WEIR_ENOTSUP,
                   "this kernel has no tracefs: it was built without "
                   "tracepoints");
}

/* --- formats --- */

/* Whether the declaration that ends at `end` is of `name`: "unsigned long
 * args[6]", "long id". */
static bool declares(const char *from, const char *end, const char *name)
{
    size_t n = strlen(name);
    const char *last = memchr(from, '[', (size_t)(end - from));

    /* "__data_loc char[] comm" has the brackets in front of its name */
    if (!last || memchr(last, ' ', (size_t)(end - last)))
        last = end;
    return (size_t)(last - from) > n && !memcmp(last - n, name, n) &&
           (last[-(ptrdiff_t)n - 1] == ' ' || last[-(ptrdiff_t)n - 1] == '*');
}

/* "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;" */
static bool parse_field(const char *line, struct wr_tracepoint_field *f)
{
    const char *end = strchr(line, ';');
    unsigned offset, size;

    if (!end || !declares(line, end, f->name) ||
        sscanf(end, "; offset:%u; size:%u;", &offset, &size) != 2 ||
        offset > RECORD_MAX || size > RECORD_MAX)
        return false;
    f->offset = offset;
    f->size = size;
    return true;
}

static bool find_field(const char *text, struct wr_tracepoint_field *f)
{
    static const char key[] = "field:";

    for (const char *at = text; (at = strstr(at, key)); at++)
        if (parse_field(at + sizeof(key) - 1, f))
            return true;
    return false;
}

int wr_tracefs_parse(const char *text, struct wr_tracepoint *t, weir_err *err)
{
    const char *id = strstr(text, "ID: ");

    if (!id || sscanf(id, "ID: %" SCNu64, &t->id) != 1)
        return wr_fail(err, WEIR_EFORMAT, "tracepoint '%s': has no ID",
                       t->name);
    for (size_t i = 0; i < WR_TRACEPOINT_FIELDS && t->fields[i].name; i++)
        if (!find_field(text, &t->fields[i]))
            return wr_fail(err, WEIR_EFORMAT,
                           "tracepoint '%s': has no field '%s'", t->name,
                           t->fields[i].name);
    return 0;
}

/* Reads the id and the places of all t->fields, which must have names.
 * WEIR_ENOENT: this kernel has no such tracepoint. */
static int tracefs_find(int folder, struct wr_tracepoint *t, weir_err *err)
{
    char path[200], *text = malloc(FORMAT_MAX);
    int fd, n, r;

    if (!text)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    snprintf(path, sizeof(path), "events/%s/format", t->name);
    fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -errno : wr_procfs_read(fd, text, FORMAT_MAX);
    if (fd >= 0)
        close(fd);
    if (n < 0)
        r = wr_fail_errno(err, -n, "tracepoint '%s'", t->name);
    else
        r = wr_tracefs_parse(text, t, err);
    free(text);
    return r;
}

uint64_t wr_tracepoint_value(const struct wr_tracepoint_field *f,
                             const uint8_t *record, size_t len)
{
    uint64_t value = 0;

    if (f->size > sizeof(value) || len < f->offset || len - f->offset < f->size)
        return 0;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    memcpy((uint8_t *)&value + sizeof(value) - f->size, record + f->offset,
           f->size);
#else
    memcpy(&value, record + f->offset, f->size);
#endif
    return value;
}

/* --- the collector's side --- */

#define SETTLE_NS 200000 /* a record is written so long after its time */
#define FILTER    4096

/* Numbers of the fields in the tables below. */
enum { FIELD_ID, FIELD_ARGS, FIELD_RESULT = 1 };
enum { EVENT_ENTER, EVENT_LEAVE, EVENT_SUBMIT, EVENT_GET_FILE, EVENT_COMPLETE };

/* --- begin --- */

static int find_tracepoints(struct wr_kernel *k, weir_err *err)
{
    weir_err why;
    int folder = -1, r = tracefs_open(&folder, err);

    if (r < 0)
        return r;
    k->enter = (struct wr_tracepoint){.name = "raw_syscalls/sys_enter",
                                      .fields = {{"id", 0, 0}, {"args", 0, 0}}};
    k->leave = (struct wr_tracepoint){.name = "raw_syscalls/sys_exit",
                                      .fields = {{"id", 0, 0}, {"ret", 0, 0}}};
    k->submit = (struct wr_tracepoint){
        .name = "io_uring/io_uring_submit_req",
        .fields = {{"req", 0, 0}, {"opcode", 0, 0}, {"flags", 0, 0}}};
    k->get_file = (struct wr_tracepoint){
        .name = "io_uring/io_uring_file_get",
        .fields = {{"req", 0, 0}, {"fd", 0, 0}}};
    k->complete = (struct wr_tracepoint){
        .name = "io_uring/io_uring_complete",
        .fields = {{"req", 0, 0}, {"res", 0, 0}}};
    r = tracefs_find(folder, &k->enter, err);
    if (r == 0)
        r = tracefs_find(folder, &k->leave, err);
    k->has_uring = tracefs_find(folder, &k->submit, &why) == 0 &&
                   tracefs_find(folder, &k->get_file, &why) == 0 &&
                   tracefs_find(folder, &k->complete, &why) == 0;
    close(folder);
    return r;
}

/* Other calls are not even recorded. */
static void write_filter(char buf[FILTER])
{
    size_t n = 0;

    for (size_t i = 0; i < wr_call_count && n + 32 < FILTER; i++)
        n += (size_t)snprintf(buf + n, FILTER - n, "%sid==%u", i ? "||" : "",
                              wr_calls[i].number);
}

static void index_calls(struct wr_kernel *k,
                        struct wr_paths_args args[WR_PATHS_CALLS])
{
    for (size_t i = 0; i < wr_call_count; i++) {
        const struct wr_call *c = &wr_calls[i];

        if (c->number >= WR_PATHS_CALLS)
            continue;
        k->calls[c->number] = c;
        switch (c->shape) {
        case WR_CALL_ON_TWO:
            args[c->number].second = (uint8_t)(c->path + 2 + c->at);
            /* fall through */
        case WR_CALL_OPEN:
        case WR_CALL_CREAT:
        case WR_CALL_OPEN_HOW:
        case WR_CALL_ON_PATH:
        case WR_CALL_UNLINK_AT:
        case WR_CALL_CHDIR:
        case WR_CALL_EXEC:
            args[c->number].first = (uint8_t)(c->path + 1);
            break;
        default:
            break;
        }
    }
}

static int open_rings(struct wr_kernel *k, pid_t pid, weir_err *err)
{
    char filter[FILTER];
    const struct wr_rings_event events[] = {
        [EVENT_ENTER] = {k->enter.id, filter},
        [EVENT_LEAVE] = {k->leave.id, filter},
        [EVENT_SUBMIT] = {k->submit.id, NULL},
        [EVENT_GET_FILE] = {k->get_file.id, NULL},
        [EVENT_COMPLETE] = {k->complete.id, NULL}};

    write_filter(filter);
    return wr_rings_open(&k->rings, pid, events,
                         k->has_uring ? WR_ARRAY_LEN(events) : EVENT_SUBMIT,
                         err);
}

int wr_kernel_open(struct wr_kernel **ret, struct wr_collect *c, pid_t pid,
                   weir_err *err)
{
    struct wr_paths_args *args = calloc(WR_PATHS_CALLS, sizeof(*args));
    struct wr_kernel *k = calloc(1, sizeof(*k));
    const char *without = getenv("WEIR_TRACE_NO_BPF");
    struct wr_kernel_process *root;
    weir_err why;
    int r;

    if (!k || !args) {
        free(k);
        free(args);
        return wr_fail(err, WEIR_ENOMEM, "the kernel's view of the command");
    }
    k->c = c;
    index_calls(k, args);
    r = find_tracepoints(k, err);
    if (r == 0)
        r = open_rings(k, pid, err);
    if (r == 0 && !(without && *without))
        (void)wr_paths_open(&k->paths, k->rings, &k->enter, &k->leave, args,
                            &why); /* else names come from /proc */
    free(args);
    if (r < 0) {
        wr_kernel_close(k);
        return r;
    }
    root = wr_kernel_process_of(k, (uint32_t)pid, c->start_ns);
    if (root) {
        root->cwd = getcwd(NULL, 0); /* the command begins where weir is */
        for (unsigned fd = 0; fd < 3; fd++)
            (void)wr_kernel_fd_of(k, root, fd);
    }
    c->sum.unnamed_files = 0;
    c->sum.names_by_proc = !k->paths;
    *ret = k;
    return 0;
}

static void free_all(struct wr_keyed *t, void (*one)(void *))
{
    for (size_t i = 0; i < t->map.cap; i++)
        if (wr_keyed_in(t, i))
            one(wr_keyed_in(t, i));
    wr_keyed_done(t);
}

static void free_thread(void *thread)
{
    wr_kernel_thread_clear(thread);
    free(thread);
}

static void free_process(void *process)
{
    wr_kernel_process_free(process);
}

void wr_kernel_close(struct wr_kernel *k)
{
    if (!k)
        return;
    wr_paths_close(k->paths);
    wr_rings_close(k->rings);
    free_all(&k->threads, free_thread);
    free_all(&k->processes, free_process);
    free_all(&k->requests, free);
    wr_keyed_done(&k->taps);
    free(k);
}

/* --- records --- */

/* Another program is about to take its place: by then it may be too late to
 * ask for its name. */
static void on_exec_call(struct wr_kernel *k, struct wr_kernel_thread *t)
{
    const struct wr_call *c = t->now.call;
    char path[8192];

    if (!t->paths[0] || !*t->paths[0] ||
        !wr_kernel_path(k, t->process, c->at ? (int)t->now.args[0] : AT_FDCWD,
                        t->paths[0], path))
        return;
    free(t->process->program);
    t->process->program = strdup(path);
}

static void on_enter(struct wr_kernel *k, const struct wr_ring_record *r)
{
    uint64_t id = wr_tracepoint_value(&k->enter.fields[FIELD_ID], r->raw,
                                      r->raw_len);
    const struct wr_tracepoint_field *args = &k->enter.fields[FIELD_ARGS];
    struct wr_kernel_thread *t = wr_kernel_thread_of(k, r->pid, r->tid,
                                                     r->time_ns);

    if (!t)
        return;
    t->now = (struct wr_kernel_call){.ip = r->ip, .time_ns = r->time_ns};
    if (id >= WR_PATHS_CALLS || args->size < sizeof(t->now.args) ||
        r->raw_len < args->offset + sizeof(t->now.args))
        return;
    memcpy(t->now.args, r->raw + args->offset, sizeof(t->now.args));
    t->now.call = k->calls[id];
    if (t->now.call && t->now.call->shape == WR_CALL_EXEC)
        on_exec_call(k, t);
    else if (t->now.call && t->now.call->shape == WR_CALL_EXIT)
        t->process->status = (int32_t)(t->now.args[0] & 255) << 8;
}

static void on_leave(struct wr_kernel *k, const struct wr_ring_record *r)
{
    uint64_t id = wr_tracepoint_value(&k->leave.fields[FIELD_ID], r->raw,
                                      r->raw_len);
    int64_t result = (int64_t)wr_tracepoint_value(
        &k->leave.fields[FIELD_RESULT], r->raw, r->raw_len);
    struct wr_kernel_thread *t = wr_keyed_at(&k->threads, r->tid);

    if (!t)
        return;
    if (t->now.call && t->now.call->number == id &&
        (result > -512 || result < -530)) /* these begin again by themselves */
        wr_kernel_on_call(k, t, result, r->time_ns);
    wr_kernel_thread_clear(t);
}

static bool is_path(struct wr_kernel *k, const struct wr_ring_record *r)
{
    struct wr_kernel_thread *t;
    unsigned which;
    const char *text = wr_paths_text(r, &which);

    if (!text)
        return false;
    t = wr_keyed_at(&k->threads, r->tid); /* others are not of the command */
    if (t) {
        free(t->paths[which]);
        t->paths[which] = strdup(text);
    }
    return true;
}

static void on_sample(struct wr_kernel *k, const struct wr_ring_record *r)
{
    uint16_t type;

    if (r->raw_len < sizeof(type) || is_path(k, r))
        return;
    memcpy(&type, r->raw, sizeof(type)); /* common_type: the first of all */
    if (type == k->enter.id)
        on_enter(k, r);
    else if (type == k->leave.id)
        on_leave(k, r);
    else if (k->has_uring && type == k->submit.id)
        wr_kernel_on_submit(k, r);
    else if (k->has_uring && type == k->get_file.id)
        wr_kernel_on_get_file(k, r);
    else if (k->has_uring && type == k->complete.id)
        wr_kernel_on_complete(k, r);
}

/* The two halves of a call could be of two calls now. */
static void on_lost(struct wr_kernel *k, uint64_t lost)
{
    k->c->sum.lost_records += lost;
    for (size_t i = 0; i < k->threads.map.cap; i++) {
        struct wr_kernel_thread *t = wr_keyed_in(&k->threads, i);

        if (t)
            wr_kernel_thread_clear(t);
    }
}

static void on_record(void *arg, const struct wr_ring_record *r)
{
    struct wr_kernel *k = arg;

    switch (r->kind) {
    case WR_RING_SAMPLE:
        on_sample(k, r);
        break;
    case WR_RING_FORK:
        wr_kernel_on_fork(k, r);
        break;
    case WR_RING_EXEC:
        wr_kernel_on_exec(k, r);
        break;
    case WR_RING_EXIT:
        wr_kernel_on_exit(k, r);
        break;
    default:
        on_lost(k, r->lost);
    }
}

void wr_kernel_limit(struct wr_kernel *k)
{
    k->limit_ns = wr_clock_ns() - SETTLE_NS;
}

void wr_kernel_drain(struct wr_kernel *k)
{
    wr_rings_drain(k->rings, k->limit_ns, on_record, k);
}

void wr_kernel_finish(struct wr_kernel *k)
{
    wr_rings_drain(k->rings, UINT64_MAX, on_record, k);
    for (size_t i = 0; i < k->processes.map.cap; i++) {
        struct wr_kernel_process *p = wr_keyed_in(&k->processes, i);

        if (p)
            wr_kernel_program_ends(k, p, wr_clock_ns());
    }
    wr_kernel_requests_done(k);
}

void wr_kernel_sample(struct wr_kernel *k)
{
    uint64_t now = wr_clock_ns();

    for (size_t i = 0; i < k->processes.map.cap; i++) {
        struct wr_kernel_process *p = wr_keyed_in(&k->processes, i);

        if (!p)
            continue;
        if (p->view == WR_KERNEL_UNDECIDED &&
            p->since_ns + 500 * WR_NS_PER_MS < now)
            wr_kernel_decide(k, p);
        if (p->view == WR_KERNEL_ALONE && p->tap)
            wr_sample_io(p->tap);
    }
}

size_t wr_kernel_running(const struct wr_kernel *k)
{
    return k->alone;
}
