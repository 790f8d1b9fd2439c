/* fault.c - a store that fails on command, around any other one.
 * SPDX-License-Identifier: Apache-2.0
 *
 * fault:RULE[,RULE...]:URL. A rule is WHAT[=VALUE][@WHEN]:
 *   eio, enoent, eacces   the read fails so
 *   short[=BYTES]         only BYTES (default: half of them) are there
 *   flip[=OFFSET]         one bit is wrong
 *   delay=MS              the answer comes that much later
 * and WHEN, counted over all reads of the store from 1:
 *   N, N+, %N             read N; every one from N on; every N-th
 *   ~TEXT                 reads of paths that contain TEXT
 * Without WHEN the rule holds for every read. */
#include "storage/storage.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"

#define MAX_RULES 16

enum what { FAIL, SHORT, FLIP, DELAY };
enum when { ALWAYS, ONCE, FROM, EVERY, PATH };

struct rule {
    enum what what;
    int os_errno;   /* FAIL */
    uint64_t value; /* SHORT: bytes, FLIP: offset, DELAY: ns */
    bool has_value;
    enum when when;
    uint64_t n;
    char *text; /* owned; PATH */
};

struct fault_store {
    struct wr_store store;
    struct wr_store *inner; /* owned */
    struct rule rules[MAX_RULES];
    unsigned rule_count;
    atomic_uint_fast64_t reads;
};

struct fault_object {
    struct wr_object object;
    struct fault_store *fs;  /* borrowed */
    struct wr_object *inner; /* owned */
    char *path;              /* owned */
};

/* A read on its way: the inner store sees `inner`, the caller `outer`. */
struct fault_io {
    struct wr_io inner;
    struct wr_io *outer; /* borrowed; NULL when free */
    const struct rule *flip, *cut;
    uint64_t due_ns;
    bool arrived;
};

struct fault_queue {
    struct wr_queue queue;
    struct fault_store *fs; /* borrowed */
    struct wr_queue *inner; /* owned */
    struct fault_io *ios;   /* owned: `depth` */
    unsigned depth, in_flight;
    unsigned inside; /* of these, inside the inner queue */
};

static struct fault_store *to_store(struct wr_store *st)
{
    return (struct fault_store *)st;
}

static struct fault_queue *to_queue(struct wr_queue *q)
{
    return (struct fault_queue *)q;
}

/* --- rules --- */

static int parse_what(struct rule *r, char *word, weir_err *err)
{
    static const struct {
        const char *name;
        enum what what;
        int os_errno;
    } names[] = {
        {"eio", FAIL, EIO},  {"enoent", FAIL, ENOENT}, {"eacces", FAIL, EACCES},
        {"short", SHORT, 0}, {"flip", FLIP, 0},        {"delay", DELAY, 0},
    };
    char *value = strchr(word, '=');

    if (value)
        *value++ = '\0';
    for (unsigned i = 0; i < WR_ARRAY_LEN(names); i++) {
        if (strcmp(word, names[i].name))
            continue;
        r->what = names[i].what;
        r->os_errno = names[i].os_errno;
        r->has_value = value;
        if (r->what == FAIL ? value != NULL : r->what == DELAY && !value)
            return wr_fail(err, WEIR_EINVAL, "fault: '%s' takes %s value", word,
                           value ? "no" : "a");
        if (value && wr_parse_uint(value, 0, UINT32_MAX, &r->value, err) < 0)
            return WEIR_EINVAL;
        if (r->what == DELAY)
            r->value *= WR_NS_PER_MS;
        return 0;
    }
    return wr_fail(err, WEIR_EINVAL, "fault: unknown rule '%s'", word);
}

static int parse_when(struct rule *r, char *word, weir_err *err)
{
    size_t len = word ? strlen(word) : 0;

    r->when = ALWAYS;
    if (!word)
        return 0;
    if (*word == '~') {
        r->when = PATH;
        r->text = strdup(word + 1);
        return r->text ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    r->when = ONCE;
    if (*word == '%') {
        r->when = EVERY;
        word++;
    } else if (len && word[len - 1] == '+') {
        r->when = FROM;
        word[len - 1] = '\0';
    }
    return wr_parse_uint(word, 1, UINT64_MAX, &r->n, err);
}

static int parse_rules(struct fault_store *fs, char *spec, weir_err *err)
{
    char *save = NULL;

    for (char *word = strtok_r(spec, ",", &save); word;
         word = strtok_r(NULL, ",", &save)) {
        struct rule *rule = &fs->rules[fs->rule_count];
        char *when = strchr(word, '@');
        int r;

        if (fs->rule_count == MAX_RULES)
            return wr_fail(err, WEIR_ELIMIT, "fault: more than %d rules",
                           MAX_RULES);
        if (when)
            *when++ = '\0';
        r = parse_what(rule, word, err);
        if (r == 0)
            r = parse_when(rule, when, err);
        if (r < 0)
            return r;
        fs->rule_count++;
    }
    return 0;
}

static bool applies(const struct rule *r, uint64_t count, const char *path)
{
    switch (r->when) {
    case ALWAYS:
        return true;
    case ONCE:
        return count == r->n;
    case FROM:
        return count >= r->n;
    case EVERY:
        return count % r->n == 0;
    case PATH:
        return path && strstr(path, r->text);
    }
    return false;
}

/* What happens to the next read: returns an errno, or 0 and the rest. */
static int judge(struct fault_store *fs, const char *path, struct fault_io *io)
{
    uint64_t count = atomic_fetch_add(&fs->reads, 1) + 1;
    int os_errno = 0;

    io->flip = io->cut = NULL;
    io->due_ns = 0;
    for (unsigned i = 0; i < fs->rule_count; i++) {
        const struct rule *r = &fs->rules[i];

        if (!applies(r, count, path))
            continue;
        if (r->what == FAIL)
            os_errno = r->os_errno;
        else if (r->what == SHORT)
            io->cut = r;
        else if (r->what == FLIP)
            io->flip = r;
        else
            io->due_ns = wr_clock_ns() + r->value;
    }
    return os_errno;
}

/* --- the queue --- */

static struct fault_io *free_io(struct fault_queue *fq)
{
    for (unsigned i = 0; i < fq->depth; i++)
        if (!fq->ios[i].outer)
            return &fq->ios[i];
    return NULL;
}

static void fail_read(struct wr_io *rd, int os_errno)
{
    rd->os_errno = os_errno;
    rd->result = wr_error_from_errno(os_errno);
    rd->step = os_errno == EIO ? WR_STEP_READ : WR_STEP_OPEN;
    rd->got = 0;
    rd->data = rd->buf;
}

static void send(struct fault_queue *fq, struct wr_io *rd, struct fault_io *io)
{
    const struct fault_object *fo = (const struct fault_object *)rd->object;
    struct wr_io *inner = &io->inner;
    int os_errno = judge(fq->fs, fo ? fo->path : rd->path, io);

    io->outer = rd;
    io->inner = *rd;
    inner->object = fo ? fo->inner : NULL;
    io->arrived = os_errno != 0;
    fq->in_flight++;
    if (os_errno) {
        fail_read(inner, os_errno);
    } else if (fq->inner->ops->submit(fq->inner, &inner, 1) == 1) {
        fq->inside++;
    } else { /* cannot be: the inner queue is as deep as this one */
        fail_read(inner, EAGAIN);
        io->arrived = true;
    }
}

static unsigned fault_submit(struct wr_queue *q, struct wr_io *const *reads,
                             unsigned n)
{
    struct fault_queue *fq = to_queue(q);
    struct fault_io *io;
    unsigned taken = 0;

    while (taken < n && (io = free_io(fq)))
        send(fq, reads[taken++], io);
    return taken;
}

/* Does to a good read what the rules say, and hands it to its owner. */
static struct wr_io *deliver(struct fault_queue *fq, struct fault_io *io)
{
    struct wr_io *rd = io->outer;
    struct wr_object *object = rd->object;
    size_t cut;

    *rd = io->inner;
    rd->object = object;
    if (io->cut && rd->result == 0) {
        cut = io->cut->has_value ? (size_t)io->cut->value : rd->len / 2;
        if (cut < rd->len) {
            rd->got = cut;
            rd->result = WEIR_ECHANGED;
        }
    }
    if (io->flip && rd->result == 0)
        rd->data[(io->flip->has_value ? io->flip->value : rd->len / 2) %
                 rd->len] ^= 0x40;
    io->outer = NULL;
    fq->in_flight--;
    return rd;
}

static void collect(struct fault_queue *fq, bool wait)
{
    struct wr_io *done[16];
    unsigned n = fq->inner->ops->reap(fq->inner, done, WR_ARRAY_LEN(done),
                                      wait);

    fq->inside -= n;
    for (unsigned i = 0; i < n; i++) /* `inner` is the first member */
        ((struct fault_io *)done[i])->arrived = true;
}

static unsigned hand_over(struct fault_queue *fq, struct wr_io **ret,
                          unsigned max)
{
    uint64_t now = wr_clock_ns();
    unsigned n = 0;

    for (unsigned i = 0; i < fq->depth && n < max; i++) {
        struct fault_io *io = &fq->ios[i];

        if (io->outer && io->arrived && io->due_ns <= now)
            ret[n++] = deliver(fq, io);
    }
    return n;
}

static unsigned fault_reap(struct wr_queue *q, struct wr_io **ret, unsigned max,
                           bool wait)
{
    struct fault_queue *fq = to_queue(q);
    unsigned n;

    collect(fq, /* wait= */ false);
    n = hand_over(fq, ret, max);
    while (!n && wait && fq->in_flight) {
        /* Something held back may come due before the inner queue answers. */
        if (fq->inside == fq->in_flight)
            collect(fq, /* wait= */ true);
        else
            wr_clock_sleep_until(wr_clock_ns() + WR_NS_PER_MS / 4);
        collect(fq, /* wait= */ false);
        n = hand_over(fq, ret, max);
    }
    return n;
}

static void fault_queue_close(struct wr_queue *q)
{
    struct fault_queue *fq = to_queue(q);

    fq->inner->ops->close(fq->inner);
    free(fq->ios);
    free(fq);
}

static const struct wr_queue_ops fault_queue_ops = {
    .submit = fault_submit,
    .reap = fault_reap,
    .close = fault_queue_close,
};

static int fault_queue_open(struct wr_store *st,
                            const struct wr_queue_config *cfg,
                            struct wr_queue **ret, weir_err *err)
{
    struct fault_store *fs = to_store(st);
    struct fault_queue *fq = calloc(1, sizeof(*fq));
    int r;

    if (!fq)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    fq->ios = calloc(cfg->depth, sizeof(*fq->ios));
    r = fq->ios ? fs->inner->ops->queue_open(fs->inner, cfg, &fq->inner, err)
                : wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r < 0) {
        free(fq->ios);
        free(fq);
        return r;
    }
    fq->queue.ops = &fault_queue_ops;
    fq->queue.engine = fq->inner->engine;
    fq->fs = fs;
    fq->depth = cfg->depth;
    *ret = &fq->queue;
    return 0;
}

/* --- objects --- */

static int64_t fault_object_read(struct wr_object *o, void *buf, size_t len,
                                 uint64_t offset, weir_err *err)
{
    struct fault_object *fo = (struct fault_object *)o;
    struct fault_io io;
    int os_errno = judge(fo->fs, fo->path, &io);
    int64_t n;

    if (os_errno)
        return wr_fail_errno(err, os_errno, "'%s': cannot read", fo->path);
    if (io.due_ns)
        wr_clock_sleep_until(io.due_ns);
    n = fo->inner->ops->read(fo->inner, buf, len, offset, err);
    if (n > 0 && io.cut)
        n = WR_MIN(n, io.cut->has_value ? (int64_t)io.cut->value : n / 2);
    if (n > 0 && io.flip)
        ((uint8_t *)
             buf)[(io.flip->has_value ? io.flip->value : (uint64_t)n / 2) %
                  (uint64_t)n] ^= 0x40;
    return n;
}

static int fault_object_write(struct wr_object *o, const void *buf, size_t len,
                              uint64_t offset, weir_err *err)
{
    struct wr_object *inner = ((struct fault_object *)o)->inner;

    if (!inner->ops->write)
        return wr_fail(err, WEIR_ENOTSUP, "read-only storage");
    return inner->ops->write(inner, buf, len, offset, err);
}

static int fault_object_close(struct wr_object *o, bool sync, weir_err *err)
{
    struct fault_object *fo = (struct fault_object *)o;
    int r = fo->inner->ops->close(fo->inner, sync, err);

    free(fo->path);
    free(fo);
    return r;
}

static const struct wr_object_ops fault_object_ops = {
    .read = fault_object_read,
    .write = fault_object_write,
    .close = fault_object_close,
};

static int fault_object_open(struct wr_store *st, const char *path,
                             enum wr_open_mode mode, struct wr_object **ret,
                             weir_err *err)
{
    struct fault_store *fs = to_store(st);
    struct fault_object *fo = calloc(1, sizeof(*fo));
    int r;

    if (!fo || !(fo->path = strdup(path))) {
        free(fo);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    fo->object.ops = &fault_object_ops;
    fo->fs = fs;
    r = fs->inner->ops->object_open(fs->inner, path, mode, &fo->inner, err);
    if (r < 0) {
        free(fo->path);
        free(fo);
        return r;
    }
    *ret = &fo->object;
    return 0;
}

/* --- the store: all else passes through --- */

static void fault_close(struct wr_store *st)
{
    struct fault_store *fs = to_store(st);

    if (!fs)
        return;
    wr_store_close(fs->inner);
    for (unsigned i = 0; i < MAX_RULES; i++)
        free(fs->rules[i].text);
    free(fs);
}

static int fault_open(const char *rest, struct wr_store **ret, char **ret_leaf,
                      weir_err *err)
{
    const char *colon = strchr(rest, ':');
    struct fault_store *fs;
    char *spec;
    int r;

    if (!colon)
        return wr_fail(err, WEIR_EINVAL, "'fault:%s': write fault:RULES:PATH",
                       rest);
    fs = calloc(1, sizeof(*fs));
    spec = strndup(rest, (size_t)(colon - rest));
    if (!fs || !spec)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    else
        r = parse_rules(fs, spec, err);
    free(spec);
    if (r == 0)
        r = wr_store_open(colon + 1, &fs->inner, ret_leaf, err);
    if (r < 0) {
        fault_close(fs ? &fs->store : NULL);
        return r;
    }
    fs->store.ops = &wr_storage_fault;
    *ret = &fs->store;
    return 0;
}

static int fault_stat(struct wr_store *st, const char *path,
                      struct wr_stat *ret, weir_err *err)
{
    struct wr_store *inner = to_store(st)->inner;

    return inner->ops->stat(inner, path, ret, err);
}

static int fault_list(struct wr_store *st, const char *path, wr_list_fn fn,
                      void *arg, weir_err *err)
{
    struct wr_store *inner = to_store(st)->inner;

    return inner->ops->list(inner, path, fn, arg, err);
}

static int fault_change(struct wr_store *st, enum wr_change what,
                        const char *path, const char *to, weir_err *err)
{
    struct wr_store *inner = to_store(st)->inner;

    if (!inner->ops->change)
        return wr_fail(err, WEIR_ENOTSUP, "read-only storage");
    return inner->ops->change(inner, what, path, to, err);
}

static bool fault_local_path(struct wr_store *st, const char *path, char *buf,
                             size_t cap)
{
    struct wr_store *inner = to_store(st)->inner;

    return inner->ops->local_path &&
           inner->ops->local_path(inner, path, buf, cap);
}

const struct wr_storage_ops wr_storage_fault = {
    .name = "fault",
    .help = "another store with scripted errors, short reads and delays",
    .open = fault_open,
    .close = fault_close,
    .stat = fault_stat,
    .list = fault_list,
    .object_open = fault_object_open,
    .change = fault_change,
    .queue_open = fault_queue_open,
    .local_path = fault_local_path,
};
