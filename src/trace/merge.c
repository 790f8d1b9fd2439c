/* merge.c - several traces of one job become one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/mem.h"
#include "trace/merge_private.h"

#define MANY_TEXTS 16 /* different commands or hosts that are written out */
#define ROOM_BYTES ((size_t)128 << 20) /* of events of all inputs */
#define LEAST_ROOM 1024                /* events of one input */
#define SLACK_NS   UINT64_C(50000000)  /* of the second that order may be off */

/* --- names: files of several traces, each with one number ---
 *
 * A path is the same file in all traces of one host, and on all hosts if it lies
 * on a file system that they share. Names that are two in one trace stay two. */

static bool is_shared(const struct wr_merge_input *in, const char *path)
{
    const struct wr_trace_mount *mount = *path == '/' ? wr_trace_mount_of(
                                                            in->mounts, path)
                                                      : NULL;

    return mount && mount->network;
}

/* Whether the name `n` of the output is that of a path of `in`. */
static bool is_name(const struct wr_merge *m, const struct wr_merge_name *n,
                    const struct wr_merge_input *in,
                    const struct wr_merge_name *wanted)
{
    const struct wr_merge_input *of = &m->inputs[n->input];

    if (n->nth != wanted->nth || n->kind != wanted->kind ||
        strcmp(n->path, wanted->path) != 0)
        return false;
    if (wr_trace_file_info(in->file)->anonymous ||
        wr_trace_file_info(of->file)->anonymous)
        return of == in;
    return (n->shared && wanted->shared) ||
           (*in->host && !strcmp(of->host, in->host));
}

/* The larger of what two traces know. */
static uint64_t known_most(uint64_t a, uint64_t b)
{
    if (a == UINT64_MAX || b == UINT64_MAX)
        return WR_MIN(a, b);
    return WR_MAX(a, b);
}

static bool add_name(struct wr_merge *m, uint64_t key,
                     const struct wr_merge_name *name, uint32_t *ret)
{
    struct wr_map_number *at;

    if (!wr_grow(&m->names, &m->name_cap, m->name_count + 1, sizeof(*m->names)))
        return false;
    at = wr_map_add(&m->numbers, key);
    if (!at)
        return false;
    at->number = *ret = (uint32_t)m->name_count++;
    m->names[*ret] = *name;
    return true;
}

/* The number of the name, which may have to be made; one that this trace has
 * given away already is another file of that path. */
static bool number_of(struct wr_merge *m, uint32_t input,
                      struct wr_merge_name wanted, const uint8_t *used,
                      uint32_t *ret)
{
    const uint64_t key = wr_map_hashed(
        XXH3_64bits(wanted.path, strlen(wanted.path)));
    const struct wr_merge_input *in = &m->inputs[input];
    struct wr_map_number *at;

    wanted.input = input;
    for (;; wanted.nth++) {
        at = wr_map_find(&m->numbers, key);
        while (at && !is_name(m, &m->names[at->number], in, &wanted))
            at = wr_map_next(&m->numbers, at);
        if (!at)
            return add_name(m, key, &wanted, ret);
        *ret = at->number;
        if (!(used[*ret / 8] >> (*ret % 8) & 1))
            break;
    }
    m->names[*ret].size = known_most(m->names[*ret].size, wanted.size);
    m->names[*ret].resident = known_most(m->names[*ret].resident,
                                         wanted.resident);
    return true;
}

static bool number_input(struct wr_merge *m, uint32_t input)
{
    struct wr_merge_input *in = &m->inputs[input];
    size_t n = wr_trace_file_names(in->file);
    uint8_t *used = calloc((m->name_count + n) / 8 + 1, 1);
    bool good = used != NULL;

    in->names = calloc(n + 1, sizeof(*in->names));
    good = good && in->names;
    for (size_t k = 0; good && k < n; k++) {
        const struct wr_trace_name *name = wr_trace_file_name(in->file, k);
        const char *path = name->path ? name->path : "";
        uint32_t number = 0;

        good = number_of(m, input,
                         (struct wr_merge_name){.path = path,
                                                .kind = name->kind,
                                                .shared = is_shared(in, path),
                                                .size = name->size,
                                                .resident = name->resident},
                         used, &number);
        if (good) {
            used[number / 8] |= (uint8_t)(1 << number % 8);
            in->names[k] = number;
        }
    }
    free(used);
    return good;
}

static int number_names(struct wr_merge *m, weir_err *err)
{
    for (uint32_t k = 0; k < m->count; k++)
        if (!number_input(m, k))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
    m->sum.names = m->name_count;
    return 0;
}

/* --- what a merged trace has once --- */

static const struct wr_trace_info *info_of(const struct wr_merge *m, size_t k)
{
    return wr_trace_file_info(m->inputs[k].file);
}

static const char *text_of(const struct wr_merge *m, size_t k, bool is_host)
{
    const char *s = is_host ? m->inputs[k].host : info_of(m, k)->command;

    return s ? s : "";
}

/* The different texts, joined; NULL: no memory. */
static char *join_texts(const struct wr_merge *m, bool is_host,
                        const char *between)
{
    char *text = NULL;
    size_t len = 0, written = 0;
    FILE *to = open_memstream(&text, &len);

    for (size_t k = 0; to && k < m->count; k++) {
        const char *s = text_of(m, k, is_host);
        size_t i = 0;

        while (i < k && strcmp(text_of(m, i, is_host), s) != 0)
            i++;
        if (i < k)
            continue;
        if (written++ < MANY_TEXTS)
            fprintf(to, "%s%s", written > 1 ? between : "", s);
        else if (written == MANY_TEXTS + 1)
            fprintf(to, "%s...", between);
    }
    if (to && fclose(to) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static bool has_line(const char *text, const char *line, size_t len)
{
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "\n");

        if (n == len && !memcmp(at, line, n))
            return true;
        at += n + (at[n] == '\n');
    }
    return false;
}

/* Lines that all hosts have come once. */
static char *join_mounts(const struct wr_merge *m)
{
    char *text = strdup(""), *longer;

    for (size_t k = 0; text && k < m->count; k++) {
        const char *at = info_of(m, k)->mounts;

        while (at && *at && text) {
            size_t n = strcspn(at, "\n");

            if (n && !has_line(text, at, n)) {
                if (asprintf(&longer, "%s%.*s\n", text, (int)n, at) < 0)
                    longer = NULL;
                free(text);
                text = longer;
            }
            at += n + (at[n] == '\n');
        }
    }
    return text;
}

static void free_info(struct wr_trace_info *info)
{
    free((void *)(uintptr_t)info->command);
    free((void *)(uintptr_t)info->host);
    free((void *)(uintptr_t)info->mounts);
}

static int join_info(const struct wr_merge *m, struct wr_trace_info *ret,
                     weir_err *err)
{
    struct wr_trace_info all = *info_of(m, 0);

    all.by_kernel = all.complete = true;
    all.anonymous = false;
    all.merged = 0;
    all.lost_records = all.end_ns = 0;
    for (size_t k = 0; k < m->count; k++) {
        const struct wr_trace_info *i = info_of(m, k);

        all.start_wall_ns = WR_MIN(all.start_wall_ns, i->start_wall_ns);
        all.end_ns = WR_MAX(all.end_ns, i->end_ns + m->inputs[k].offset_ns);
        /* What is said of a machine must be true of each. */
        all.cores = WR_MIN(all.cores, i->cores);
        all.memory_bytes = WR_MIN(all.memory_bytes, i->memory_bytes);
        all.available_bytes = WR_MIN(all.available_bytes, i->available_bytes);
        all.anonymous |= i->anonymous;
        all.complete &= i->complete;
        all.by_kernel &= i->by_kernel;
        all.lost_records += i->lost_records;
        all.merged += WR_MAX(i->merged, 1);
    }
    if (m->sum.hosts > 1 || m->inputs[0].offset_ns)
        all.monitor = NULL; /* it is of one machine, from the start on */
    all.command = join_texts(m, /* is_host= */ false, "; ");
    all.host = join_texts(m, /* is_host= */ true, ", ");
    all.mounts = join_mounts(m);
    if (!all.command || !all.host || !all.mounts) {
        free_info(&all);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    *ret = all;
    return 0;
}

/* --- tables --- */

static int write_names(struct wr_merge *m, weir_err *err)
{
    int r = 0;

    for (uint32_t k = 0; r == 0 && k < m->name_count; k++) {
        const struct wr_merge_name *n = &m->names[k];

        r = wr_trace_writer_name(m->writer, k, n->path, n->kind, n->size, err);
    }
    return r;
}

static int32_t moved_pid(const struct wr_merge_input *in, int32_t pid)
{
    return pid < 0 || pid >= WR_MERGE_PIDS
               ? pid
               : pid + (int32_t)in->space * WR_MERGE_PIDS;
}

static int write_processes(struct wr_merge *m, weir_err *err)
{
    int r = 0;

    for (size_t i = 0; i < m->count; i++) {
        const struct wr_merge_input *in = &m->inputs[i];
        size_t n = wr_trace_file_processes(in->file);

        for (size_t k = 0; r == 0 && k < n; k++) {
            struct wr_trace_process p = *wr_trace_file_process(in->file, k);

            p.pid = moved_pid(in, p.pid);
            if (p.parent >= 0)
                p.parent += (int32_t)in->first_process;
            p.start_ns += in->offset_ns;
            if (p.end_ns != UINT64_MAX)
                p.end_ns += in->offset_ns;
            if (!p.host || !*p.host)
                p.host = in->host;
            r = wr_trace_writer_process(
                m->writer, in->first_process + (uint32_t)k, &p, err);
        }
    }
    return r;
}

/* --- events --- */

static uint32_t new_name(const struct wr_merge_input *in, uint32_t file)
{
    return file == WR_TRACE_NO_FILE ? file : in->names[file];
}

static void move_event(const struct wr_merge_input *in,
                       struct wr_trace_event *e)
{
    e->start_ns += in->offset_ns;
    e->process += in->first_process;
    e->thread = (uint32_t)moved_pid(in, (int32_t)e->thread);
    e->file = new_name(in, e->file);
    e->file2 = new_name(in, e->file2);
    if (e->op == WR_TRACE_FORK || e->op == WR_TRACE_SPAWN)
        e->bytes = (uint64_t)moved_pid(in, (int32_t)e->bytes);
}

static int fill(struct wr_merge_input *in, size_t cap,
                struct wr_trace_event *room, weir_err *err)
{
    int r = wr_trace_file_next(in->file, &in->cursor, room, in->events, cap,
                               &in->event_count, err);

    in->event_at = 0;
    for (size_t k = 0; r == 0 && k < in->event_count; k++)
        move_event(in, &in->events[k]);
    return r;
}

static uint64_t end_of(const struct wr_merge_input *in)
{
    const struct wr_trace_event *e = &in->events[in->event_at];

    return in->event_at < in->event_count ? e->start_ns + e->dur_ns
                                          : UINT64_MAX;
}

/* The input whose next event ends first, and where the second one is. */
static struct wr_merge_input *earliest(struct wr_merge *m, uint64_t *ret_next)
{
    struct wr_merge_input *first = NULL;
    uint64_t next = UINT64_MAX;

    for (size_t k = 0; k < m->count; k++) {
        struct wr_merge_input *in = &m->inputs[k];

        if (in->event_at >= in->event_count)
            continue;
        if (!first || end_of(in) < end_of(first)) {
            next = first ? WR_MIN(next, end_of(first)) : next;
            first = in;
        } else {
            next = WR_MIN(next, end_of(in));
        }
    }
    *ret_next = next;
    return first;
}

static int write_run(struct wr_merge *m, struct wr_merge_input *in,
                     uint64_t until_ns, weir_err *err)
{
    size_t from = in->event_at;

    while (in->event_at < in->event_count && end_of(in) <= until_ns)
        in->event_at++;
    m->sum.events += in->event_at - from;
    return wr_trace_writer_events(m->writer, in->events + from,
                                  in->event_at - from, err);
}

static int merge_events(struct wr_merge *m, size_t cap,
                        struct wr_trace_event *room, weir_err *err)
{
    struct wr_merge_input *in;
    uint64_t next;
    int r = 0;

    for (size_t k = 0; r == 0 && k < m->count; k++)
        r = fill(&m->inputs[k], cap, room, err);
    while (r == 0 && (in = earliest(m, &next))) {
        if (m->cfg->stop && m->cfg->stop())
            return wr_fail(err, WEIR_ECANCELED, "interrupted");
        r = write_run(
            m, in, next > UINT64_MAX - SLACK_NS ? next : next + SLACK_NS, err);
        if (r == 0 && in->event_at == in->event_count)
            r = fill(in, cap, room, err);
    }
    return r;
}

static int write_events(struct wr_merge *m, weir_err *err)
{
    struct wr_trace_event *room = malloc(WR_TRACE_ROOM * sizeof(*room));
    size_t cap = ROOM_BYTES / sizeof(*room) / m->count;
    bool good = room != NULL;
    int r;

    cap = WR_MIN(WR_MAX(cap, LEAST_ROOM), WR_TRACE_ROOM);
    for (size_t k = 0; good && k < m->count; k++) {
        struct wr_merge_input *in = &m->inputs[k];
        uint64_t n = wr_trace_file_events(in->file);

        in->events = malloc((WR_MIN(n, cap) + 1) * sizeof(*in->events));
        good = in->events != NULL;
    }
    r = good ? merge_events(m, cap, room, err)
             : wr_fail(err, WEIR_ENOMEM, "out of memory");
    free(room);
    return r;
}

/* --- what comes at the end --- */

struct wr_merge_counts {
    struct wr_merge *m;
    const struct wr_merge_input *in;
    weir_err *err;
};

static int on_counts(void *arg, const struct wr_trace_counts *c)
{
    const struct wr_merge_counts *at = arg;
    struct wr_trace_counts own = *c;

    own.process += at->in->first_process;
    own.file = new_name(at->in, c->file);
    own.first_ns += at->in->offset_ns;
    own.last_ns += at->in->offset_ns;
    return wr_trace_writer_counts(at->m->writer, &own, 1, at->err);
}

static int write_rest(struct wr_merge *m, weir_err *err)
{
    int r = 0;

    for (size_t k = 0; r == 0 && k < m->count; k++) {
        struct wr_merge_counts at = {m, &m->inputs[k], err};

        r = wr_trace_file_walk_counts(m->inputs[k].file, on_counts, &at, err);
    }
    for (uint32_t k = 0; r == 0 && k < m->name_count; k++)
        if (m->names[k].resident != UINT64_MAX)
            r = wr_trace_writer_resident(m->writer, k, m->names[k].resident,
                                         m->names[k].size, err);
    return r;
}

/* --- the file --- */

static int write_all(struct wr_merge *m, const char *path,
                     const struct wr_trace_info *info, weir_err *err)
{
    int r = wr_trace_writer_open(&m->writer, path, info, err);

    if (r == 0)
        r = write_names(m, err);
    if (r == 0)
        r = write_processes(m, err);
    if (r == 0)
        r = write_events(m, err);
    if (r == 0)
        r = write_rest(m, err);
    if (r < 0) {
        wr_trace_writer_drop(m->writer);
        return r;
    }
    return wr_trace_writer_close(m->writer, info, err);
}

static int sync_file(const char *path, weir_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), r = 0;

    if (fd < 0 || fsync(fd) < 0)
        r = wr_fail_errno(err, errno, "'%s': cannot write", path);
    if (fd >= 0)
        close(fd);
    return r;
}

/* Takes its name when it is whole; a file of that name is never replaced. */
static int publish(const char *from, const char *to, weir_err *err)
{
    int r = sync_file(from, err);

    if (r < 0)
        return r;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return wr_fail_errno(err, errno, "'%s': cannot create", to);
    if (link(from, to) < 0)
        return wr_fail_errno(err, errno, "'%s': cannot create", to);
    unlink(from);
    return 0;
}

static int merge_into(struct wr_merge *m, weir_err *err)
{
    struct wr_trace_info info;
    char *part = NULL;
    int r;

    if (access(m->cfg->output, F_OK) == 0)
        return wr_fail(err, WEIR_EEXIST, "'%s': is there already",
                       m->cfg->output);
    if (asprintf(&part, "%s.part-%d", m->cfg->output, (int)getpid()) < 0)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = join_info(m, &info, err);
    if (r == 0) {
        r = write_all(m, part, &info, err);
        if (r == 0)
            r = publish(part, m->cfg->output, err);
        if (r < 0)
            unlink(part);
        free_info(&info);
    }
    free(part);
    return r;
}

static void merge_done(struct wr_merge *m)
{
    for (size_t k = 0; m->inputs && k < m->count; k++) {
        struct wr_merge_input *in = &m->inputs[k];

        wr_trace_analysis_free(in->mounts);
        wr_trace_file_close(in->file);
        free(in->names);
        free(in->events);
    }
    free(m->inputs);
    free(m->names);
    wr_map_done(&m->numbers);
}

int wr_trace_merge(const struct wr_merge_config *cfg, struct wr_merge_sum *ret,
                   weir_err *err)
{
    struct wr_merge m = {.cfg = cfg,
                         .count = cfg->count,
                         .numbers.size = sizeof(struct wr_map_number)};
    int r;

    if (!cfg->count)
        return wr_fail(err, WEIR_EINVAL, "no trace to merge");
    m.inputs = calloc(cfg->count, sizeof(*m.inputs));
    if (!m.inputs)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_merge_open(&m, err);
    if (r == 0)
        r = wr_merge_align(&m, err);
    if (r == 0)
        r = number_names(&m, err);
    if (r == 0)
        r = merge_into(&m, err);
    m.sum.traces = cfg->count;
    m.sum.processes = m.processes;
    if (r == 0)
        *ret = m.sum;
    merge_done(&m);
    return r;
}
