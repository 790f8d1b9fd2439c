/* fault.c - a store that fails on command, around any other one.
 * SPDX-License-Identifier: Apache-2.0
 *
 * fault:RULE[,RULE...]:URL. A rule is WHAT[=VALUE][@WHEN], for reads
 *   eio, enoent, eacces, emfile, enomem    the read fails so
 *   short[=BYTES]            only BYTES (default: half of them) are there
 *   flip[=OFFSET]            one bit is wrong
 *   delay=MS                 the answer comes that much later
 * for writes
 *   write-eio, write-enospc  the write fails so, nothing of it is done
 *   write-short[=BYTES]      BYTES (default: half of them) are written, then it
 *                            fails with an I/O error
 *   write-flip[=OFFSET]      one bit is written wrong
 *   write-delay=MS           the answer comes that much later
 * for syncs of files, those of a close included,
 *   sync-eio, sync-enospc    the sync fails so
 * and for what is done with names and files,
 *   open-eio, open-emfile    opening what exists
 *   create-eio, create-enospc, resize-eio, resize-enospc, lock-eio
 *   close-eio                closing a file that was open for writing; it is
 *                            closed
 *   stat-eio, stat-enomem, list-eio, list-emfile
 *   mkdir-eio, mkdir-enospc, remove-eio, rename-eio, rename-enospc, syncdir-eio
 *   rename-late-eio          the name is changed, and an error returned
 * For requests of any kind
 *   hang=FILE                they do not return while FILE is there
 * WHEN is counted from 1, over all requests of that kind in the store:
 *   N, N+, %N                number N; every one from N on; every N-th
 *   ~TEXT                    those of paths that contain TEXT
 * Without WHEN the rule holds for all of them. */
#include "storage/fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/units.h"
#include "storage/wrap.h"

/* --- rules of the fault store: reading them, applying them --- */

#define HANG_LOOK_NS (2 * WR_NS_PER_MS)

static const struct {
    const char *name;
    enum wr_fault_on on;
    enum wr_fault_what what;
    int os_errno;
} names[] = {
    {"eio", WR_FAULT_READ, WR_FAULT_FAIL, EIO},
    {"enoent", WR_FAULT_READ, WR_FAULT_FAIL, ENOENT},
    {"eacces", WR_FAULT_READ, WR_FAULT_FAIL, EACCES},
    {"emfile", WR_FAULT_READ, WR_FAULT_FAIL, EMFILE},
    {"enomem", WR_FAULT_READ, WR_FAULT_FAIL, ENOMEM},
    {"short", WR_FAULT_READ, WR_FAULT_CUT, 0},
    {"flip", WR_FAULT_READ, WR_FAULT_FLIP, 0},
    {"delay", WR_FAULT_READ, WR_FAULT_WAIT, 0},
    {"write-eio", WR_FAULT_WRITE, WR_FAULT_FAIL, EIO},
    {"write-enospc", WR_FAULT_WRITE, WR_FAULT_FAIL, ENOSPC},
    {"write-short", WR_FAULT_WRITE, WR_FAULT_CUT, 0},
    {"write-delay", WR_FAULT_WRITE, WR_FAULT_WAIT, 0},
    {"write-flip", WR_FAULT_WRITE, WR_FAULT_FLIP, 0},
    {"sync-eio", WR_FAULT_SYNC, WR_FAULT_FAIL, EIO},
    {"sync-enospc", WR_FAULT_SYNC, WR_FAULT_FAIL, ENOSPC},
    {"close-eio", WR_FAULT_CLOSE, WR_FAULT_FAIL, EIO},
    {"open-eio", WR_FAULT_OPEN, WR_FAULT_FAIL, EIO},
    {"open-emfile", WR_FAULT_OPEN, WR_FAULT_FAIL, EMFILE},
    {"create-eio", WR_FAULT_CREATE, WR_FAULT_FAIL, EIO},
    {"create-enospc", WR_FAULT_CREATE, WR_FAULT_FAIL, ENOSPC},
    {"resize-eio", WR_FAULT_RESIZE, WR_FAULT_FAIL, EIO},
    {"resize-enospc", WR_FAULT_RESIZE, WR_FAULT_FAIL, ENOSPC},
    {"lock-eio", WR_FAULT_LOCK, WR_FAULT_FAIL, EIO},
    {"stat-eio", WR_FAULT_STAT, WR_FAULT_FAIL, EIO},
    {"stat-enomem", WR_FAULT_STAT, WR_FAULT_FAIL, ENOMEM},
    {"list-eio", WR_FAULT_LIST, WR_FAULT_FAIL, EIO},
    {"list-emfile", WR_FAULT_LIST, WR_FAULT_FAIL, EMFILE},
    {"mkdir-eio", WR_FAULT_MKDIR, WR_FAULT_FAIL, EIO},
    {"mkdir-enospc", WR_FAULT_MKDIR, WR_FAULT_FAIL, ENOSPC},
    {"remove-eio", WR_FAULT_REMOVE, WR_FAULT_FAIL, EIO},
    {"rename-eio", WR_FAULT_RENAME, WR_FAULT_FAIL, EIO},
    {"rename-enospc", WR_FAULT_RENAME, WR_FAULT_FAIL, ENOSPC},
    {"rename-eperm", WR_FAULT_RENAME, WR_FAULT_FAIL, EPERM},
    {"rename-exdev", WR_FAULT_RENAME, WR_FAULT_FAIL, EXDEV},
    {"rename-late-eio", WR_FAULT_RENAME, WR_FAULT_LATE, EIO},
    {"syncdir-eio", WR_FAULT_SYNC_DIR, WR_FAULT_FAIL, EIO},
    {"hang", WR_FAULT_READ, WR_FAULT_HANG, 0},
};

static int parse_value(struct wr_fault_rule *r, const char *name,
                       const char *value, weir_err *err)
{
    bool must = r->what == WR_FAULT_WAIT || r->what == WR_FAULT_HANG;

    if (r->os_errno ? value != NULL : must && !value)
        return wr_fail(err, WEIR_EINVAL, "fault: '%s' takes %s value", name,
                       value ? "no" : "a");
    if (r->what == WR_FAULT_HANG) {
        r->file = strdup(value);
        return r->file ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    if (value && wr_parse_uint(value, 0, UINT32_MAX, &r->value, err) < 0)
        return WEIR_EINVAL;
    if (r->what == WR_FAULT_WAIT)
        r->value *= WR_NS_PER_MS;
    return 0;
}

static int parse_what(struct wr_fault_rule *r, char *word, weir_err *err)
{
    char *value = strchr(word, '=');
    int k;

    if (value)
        *value++ = '\0';
    k = wr_named_index(WR_NAMED(names), word);
    if (k < 0)
        return wr_fail(err, WEIR_EINVAL, "fault: unknown rule '%s'", word);
    r->on = names[k].on;
    r->what = names[k].what;
    r->os_errno = names[k].os_errno;
    r->has_value = value;
    return parse_value(r, word, value, err);
}

static int parse_when(struct wr_fault_rule *r, char *word, weir_err *err)
{
    size_t len = word ? strlen(word) : 0;

    r->when = WR_FAULT_ALWAYS;
    if (!word)
        return 0;
    if (*word == '~') {
        r->when = WR_FAULT_PATH;
        r->text = strdup(word + 1);
        return r->text ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    r->when = WR_FAULT_ONCE;
    if (*word == '%') {
        r->when = WR_FAULT_EVERY;
        word++;
    } else if (len && word[len - 1] == '+') {
        r->when = WR_FAULT_FROM;
        word[len - 1] = '\0';
    }
    return wr_parse_uint(word, 1, UINT64_MAX, &r->n, err);
}

/* Adds the rules of `spec`, which is taken apart. */
static int fault_parse(struct wr_fault_rules *rules, char *spec, weir_err *err)
{
    char *save = NULL;

    for (char *word = strtok_r(spec, ",", &save); word;
         word = strtok_r(NULL, ",", &save)) {
        struct wr_fault_rule *rule = &rules->rules[rules->count];
        char *when = strchr(word, '@');
        int r;

        if (rules->count == WR_FAULT_RULES)
            return wr_fail(err, WEIR_ELIMIT, "fault: more than %d rules",
                           WR_FAULT_RULES);
        if (when)
            *when++ = '\0';
        r = parse_what(rule, word, err);
        if (r == 0)
            r = parse_when(rule, when, err);
        if (r < 0)
            return r;
        rules->count++;
    }
    return 0;
}

static void fault_done(struct wr_fault_rules *rules)
{
    for (unsigned i = 0; i < WR_FAULT_RULES; i++) {
        free(rules->rules[i].text);
        free(rules->rules[i].file);
    }
}

static bool applies(const struct wr_fault_rule *r, uint64_t count,
                    const char *path)
{
    switch (r->when) {
    case WR_FAULT_ALWAYS:
        return true;
    case WR_FAULT_ONCE:
        return count == r->n;
    case WR_FAULT_FROM:
        return count >= r->n;
    case WR_FAULT_EVERY:
        return count % r->n == 0;
    case WR_FAULT_PATH:
        return path && strstr(path, r->text);
    }
    return false;
}

static void hang(struct wr_fault_rules *rules, const struct wr_fault_rule *r)
{
    if (access(r->file, F_OK) == 0)
        atomic_fetch_add(&rules->seen[WR_FAULT_HUNG], 1);
    while (access(r->file, F_OK) == 0)
        wr_clock_sleep_until(wr_clock_ns() + HANG_LOOK_NS);
}

/* For requests that no rule fails: returns when they do not hang. */
static void fault_hang(struct wr_fault_rules *rules, const char *path)
{
    for (unsigned i = 0; i < rules->count; i++) {
        const struct wr_fault_rule *r = &rules->rules[i];

        if (r->what == WR_FAULT_HANG &&
            (r->when == WR_FAULT_ALWAYS ||
             (r->when == WR_FAULT_PATH && applies(r, 0, path))))
            hang(rules, r);
    }
}

/* Counts one request and says what happens to it; returns when it does not hang
 * (any more). Safe from any thread. */
static struct wr_fault_verdict
fault_judge(struct wr_fault_rules *rules, enum wr_fault_on on, const char *path)
{
    uint64_t count = atomic_fetch_add(&rules->seen[on], 1) + 1;
    struct wr_fault_verdict v = {0};

    for (unsigned i = 0; i < rules->count; i++) {
        const struct wr_fault_rule *r = &rules->rules[i];

        if ((r->on != on && r->what != WR_FAULT_HANG) ||
            !applies(r, count, path))
            continue;
        if (r->what == WR_FAULT_HANG) {
            hang(rules, r);
        } else if (r->os_errno) {
            v.os_errno = r->os_errno;
            v.late = r->what == WR_FAULT_LATE;
        } else if (r->what == WR_FAULT_CUT) {
            v.cut = r;
        } else if (r->what == WR_FAULT_FLIP) {
            v.flip = r;
        } else {
            v.due_ns = wr_clock_ns() + r->value;
        }
    }
    return v;
}

/* The byte of `len` that the rule means: its value, or the middle. */
static uint64_t fault_at(const struct wr_fault_rule *r, uint64_t len)
{
    return r->has_value ? r->value : len / 2;
}

struct fault_store {
    struct wr_wrap_store wrap; /* first */
    struct wr_fault_rules rules;
};

struct fault_io {
    struct wr_wrap_io wrap; /* first */
    struct wr_fault_verdict verdict;
    void *flipped; /* owned: what is written instead; NULL */
};

static struct fault_store *to_store(struct wr_store *st)
{
    return (struct fault_store *)st;
}

/* --- the queue --- */

static void fail_io(struct wr_io *io, int os_errno, size_t got)
{
    io->os_errno = os_errno;
    io->result = wr_error_from_errno(os_errno);
    io->step = io->op == WR_IO_WRITE ? WR_STEP_WRITE
               : os_errno == EIO     ? WR_STEP_READ
                                     : WR_STEP_OPEN;
    io->got = got;
    io->data = io->buf;
}

/* The bytes with one bit wrong, in fresh memory; NULL when that is short. The
 * caller's own are left alone: others may read them. */
static void *flip_copy(const void *buf, size_t len,
                       const struct wr_fault_rule *flip)
{
    uint8_t *copy = aligned_alloc(WR_DIRECT_ALIGN,
                                  WR_ALIGN_UP(len, (size_t)WR_DIRECT_ALIGN));

    if (!copy)
        return NULL;
    memcpy(copy, buf, len);
    copy[fault_at(flip, len) % len] ^= 0x40;
    return copy;
}

/* What the rules say before the store inside is asked. */
static bool begin(struct wr_store *st, struct wr_wrap_io *wio, uint64_t now_ns)
{
    struct fault_io *io = (struct fault_io *)wio;
    const struct wr_io *outer = wio->outer;
    const struct wr_wrap_object *o = (const struct wr_wrap_object *)
                                         outer->object;
    struct wr_io *inner = &wio->inner;
    bool write = outer->op == WR_IO_WRITE;

    (void)now_ns;
    io->verdict = fault_judge(&to_store(st)->rules,
                              write ? WR_FAULT_WRITE : WR_FAULT_READ,
                              o ? o->path : outer->path);
    wio->due.at_ns = io->verdict.due_ns;
    if (write && io->verdict.cut)
        inner->len = WR_MIN(inner->len, fault_at(io->verdict.cut, inner->len));
    if (write && io->verdict.flip && inner->len) {
        inner->buf = io->flipped = flip_copy(inner->buf, inner->len,
                                             io->verdict.flip);
        if (!inner->buf)
            io->verdict.os_errno = ENOMEM;
    }
    if (!io->verdict.os_errno && inner->len)
        return true;
    fail_io(inner, io->verdict.os_errno ? io->verdict.os_errno : EIO, 0);
    return false;
}

/* Does to a good read or write what the rules say. */
static void spoil(struct wr_io *io, const struct wr_fault_verdict *v)
{
    if (io->op == WR_IO_WRITE) {
        if (io->got < io->len)
            fail_io(io, EIO, io->got);
        return;
    }
    if (v->cut && fault_at(v->cut, io->len) < io->len) {
        io->got = fault_at(v->cut, io->len);
        io->result = WEIR_ECHANGED;
    } else if (v->flip) {
        io->data[fault_at(v->flip, io->len) % io->len] ^= 0x40;
    }
}

static void end(struct wr_wrap_io *wio)
{
    struct fault_io *io = (struct fault_io *)wio;

    if (wio->outer->op == WR_IO_WRITE)
        wio->outer->data = wio->outer->buf;
    free(io->flipped);
    io->flipped = NULL;
    if (wio->outer->result == 0)
        spoil(wio->outer, &io->verdict);
}

/* --- calls --- */

static struct wr_fault_verdict judge(struct fault_store *fs,
                                     enum wr_fault_on on, const char *path)
{
    struct wr_fault_verdict v = fault_judge(&fs->rules, on, path);

    if (v.due_ns)
        wr_clock_sleep_until(v.due_ns);
    return v;
}

static int fail_call(const struct wr_wrap_call *c, int os_errno,
                     const char *verb, weir_err *err)
{
    return wr_fail_errno(err, os_errno, "'%s': cannot %s",
                         *c->path ? c->path : ".", verb);
}

/* For what fails as a whole or not at all. */
static int refuse(struct fault_store *fs, enum wr_fault_on on,
                  const struct wr_wrap_call *c, const char *verb, weir_err *err)
{
    struct wr_fault_verdict v = fault_judge(&fs->rules, on, c->path);

    return v.os_errno ? fail_call(c, v.os_errno, verb, err) : 0;
}

static int64_t fault_read(struct fault_store *fs, struct wr_wrap_call *c,
                          weir_err *err)
{
    struct wr_fault_verdict v = judge(fs, WR_FAULT_READ, c->path);
    int64_t n;

    if (v.os_errno)
        return fail_call(c, v.os_errno, "read", err);
    n = wr_wrap_do(c, err);
    if (n > 0 && v.cut)
        n = WR_MIN(n, (int64_t)fault_at(v.cut, (uint64_t)n));
    if (n > 0 && v.flip)
        ((uint8_t *)c->buf)[fault_at(v.flip, (uint64_t)n) % (uint64_t)n] ^=
            0x40;
    return n;
}

static int64_t fault_write(struct fault_store *fs, struct wr_wrap_call *c,
                           weir_err *err)
{
    struct wr_fault_verdict v = judge(fs, WR_FAULT_WRITE, c->path);
    void *flipped = NULL;
    int64_t r = 0;

    if (v.os_errno) {
        c->len = 0;
    } else if (v.cut && fault_at(v.cut, c->len) < c->len) {
        c->len = fault_at(v.cut, c->len);
        v.os_errno = EIO;
    }
    if (c->len && v.flip &&
        !(c->bytes = flipped = flip_copy(c->bytes, c->len, v.flip)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (c->len)
        r = wr_wrap_do(c, err);
    free(flipped);
    return r == 0 && v.os_errno ? fail_call(c, v.os_errno, "write", err) : r;
}

/* The object is closed in any case. */
static int64_t fault_close_object(struct fault_store *fs,
                                  struct wr_wrap_call *c, weir_err *err)
{
    int64_t r = c->sync ? refuse(fs, WR_FAULT_SYNC, c, "sync", err) : 0, inner;

    c->sync = c->sync && r == 0;
    inner = wr_wrap_do(c, r == 0 ? err : NULL);
    r = r < 0 ? r : inner;
    if (c->o->mode != WR_OPEN_READ && r == 0)
        r = refuse(fs, WR_FAULT_CLOSE, c, "close", err);
    return r;
}

static int64_t fault_change(struct fault_store *fs, struct wr_wrap_call *c,
                            weir_err *err)
{
    static const struct {
        enum wr_fault_on on;
        const char *verb;
    } kinds[] = {
        [WR_MKDIR] = {WR_FAULT_MKDIR, "create folder"},
        [WR_MKDIR_PRIVATE] = {WR_FAULT_MKDIR, "create folder"},
        [WR_SHARE] = {WR_FAULT_MKDIR, "change the mode of folder"},
        [WR_REMOVE] = {WR_FAULT_REMOVE, "remove"},
        [WR_RENAME] = {WR_FAULT_RENAME, "rename"},
        [WR_RENAME_NEW] = {WR_FAULT_RENAME, "rename"},
        [WR_SWAP] = {WR_FAULT_RENAME, "swap"},
        [WR_SYNC_DIR] = {WR_FAULT_SYNC_DIR, "sync folder"},
    };
    struct wr_fault_verdict v = fault_judge(&fs->rules, kinds[c->change].on,
                                            c->path);
    int64_t r = 0;

    if (!v.os_errno || v.late)
        r = wr_wrap_do(c, err);
    return r == 0 && v.os_errno
               ? fail_call(c, v.os_errno, kinds[c->change].verb, err)
               : r;
}

static int64_t fault_call(struct wr_store *st, struct wr_wrap_call *c,
                          weir_err *err)
{
    static const struct {
        enum wr_fault_on on;
        const char *verb;
    } whole[] = {
        [WR_WRAP_STAT] = {WR_FAULT_STAT, "stat"},
        [WR_WRAP_LIST] = {WR_FAULT_LIST, "list"},
        [WR_WRAP_OPEN] = {WR_FAULT_OPEN, "open"},
        [WR_WRAP_SYNC] = {WR_FAULT_SYNC, "sync"},
        [WR_WRAP_LOCK] = {WR_FAULT_LOCK, "lock"},
        [WR_WRAP_RESIZE] = {WR_FAULT_RESIZE, "resize"},
    };
    struct fault_store *fs = to_store(st);
    int r = 0;

    switch (c->op) {
    case WR_WRAP_READ:
        return fault_read(fs, c, err);
    case WR_WRAP_WRITE:
        return fault_write(fs, c, err);
    case WR_WRAP_CLOSE:
        return fault_close_object(fs, c, err);
    case WR_WRAP_CHANGE:
        return fault_change(fs, c, err);
    case WR_WRAP_LOCKED:
    case WR_WRAP_SPACE:
        fault_hang(&fs->rules, c->path);
        break;
    case WR_WRAP_FORGETS:
        break;
    default:
        r = c->op == WR_WRAP_OPEN && c->mode == WR_OPEN_CREATE
                ? refuse(fs, WR_FAULT_CREATE, c, "create", err)
                : refuse(fs, whole[c->op].on, c, whole[c->op].verb, err);
    }
    return r < 0 ? r : wr_wrap_do(c, err);
}

static const struct wr_wrap_hooks hooks = {
    .call = fault_call,
    .io_bytes = sizeof(struct fault_io),
    .lazy = true,
    .begin = begin,
    .end = end,
};

/* --- the store --- */

static void fault_close(struct wr_store *st)
{
    struct fault_store *fs = to_store(st);

    if (!fs)
        return;
    wr_store_close(fs->wrap.inner);
    fault_done(&fs->rules);
    free(fs);
}

static int fault_open(const char *rest, unsigned flags, struct wr_store **ret,
                      char **ret_leaf, weir_err *err)
{
    struct fault_store *fs = calloc(1, sizeof(*fs));
    const char *url = NULL;
    char *spec = NULL;
    int r = fs ? wr_wrap_split(rest, "fault:RULES:PATH", &spec, &url, err)
               : wr_fail(err, WEIR_ENOMEM, "out of memory");

    if (r == 0)
        r = fault_parse(&fs->rules, spec, err);
    free(spec);
    if (r == 0)
        r = wr_store_open_with(url, flags, &fs->wrap.inner, ret_leaf, err);
    if (r < 0) {
        fault_close(fs ? &fs->wrap.store : NULL);
        return r;
    }
    fs->wrap.store.ops = &wr_storage_fault;
    fs->wrap.hooks = &hooks;
    *ret = &fs->wrap.store;
    return 0;
}

uint64_t wr_fault_seen(struct wr_store *st, enum wr_fault_on on)
{
    return to_store(st)->rules.seen[on];
}

const struct wr_storage_ops wr_storage_fault = {
    .name = "fault",
    .help = "another store with scripted errors, short reads and delays",
    .wraps = true,
    .open = fault_open,
    .close = fault_close,
    .stat = wr_wrap_stat,
    .list = wr_wrap_list,
    .object_open = wr_wrap_object_open,
    .change = wr_wrap_change,
    .queue_open = wr_wrap_queue_open,
    .space = wr_wrap_space,
    .forgets = wr_wrap_forgets,
    .local_path = wr_wrap_local_path,
};
