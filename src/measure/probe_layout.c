/* probe_layout.c - the folder of a probe: made, filled, and gone at the end.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The folder holds
 *   lock            locked as long as the probe lives
 *   big             the file to be read
 *   write           the file to be written
 *   sNNN/NNN        small files to be read, 1000 a folder
 *   cNNN/NNN        small files of the running create test
 * and nothing else. A probe that was killed leaves it behind; the next one
 * removes it when it can take the lock and finds only such names. */
#include "measure/probe_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/rng.h"
#include "base/units.h"

#define FORM     "weir-probe."
#define RANDOMS  6
#define TRIES    8
#define PATH_CAP 8192
/* Left free for the file system itself and for others. */
#define MARGIN ((uint64_t)16 << 20)

/* A folder that is empty for so long is that of a probe that was killed
 * before it could take its lock. */
#define UNLOCKED_S 60
/* What a small file takes besides its bytes, rounded up to blocks. */
#define BLOCK 4096u

/* --- whose a folder is --- */

#define NAME_CAP 256

/* Names are gathered first: a folder is not changed while it is listed. */
struct tree_names {
    struct {
        char name[NAME_CAP];
        bool folder;
    } * at; /* owned */
    size_t count, cap;
};

static int gather(void *arg, const struct wr_entry *e)
{
    struct tree_names *n = arg;

    if (strlen(e->name) >= NAME_CAP)
        return WEIR_ELIMIT;
    if (!wr_grow(&n->at, &n->cap, n->count + 1, sizeof(*n->at)))
        return WEIR_ENOMEM;
    snprintf(n->at[n->count].name, NAME_CAP, "%s", e->name);
    n->at[n->count++].folder = e->kind == WR_KIND_DIR;
    return 0;
}

static bool is_number(const char *s)
{
    return *s && s[strspn(s, "0123456789")] == '\0';
}

static int check_file(void *arg, const struct wr_entry *e)
{
    return e->kind == WR_KIND_FILE && is_number(e->name) ? 0 : WEIR_EFORMAT;
}

/* Whether all in the folder has names that a probe gives. */
static bool tree_is_ours(struct wr_store *st, const char *folder)
{
    struct tree_names n = {0};
    char path[PATH_CAP];
    bool ours = st->ops->list(st, folder, gather, &n, NULL) == 0;

    for (size_t i = 0; ours && i < n.count; i++) {
        const char *name = n.at[i].name;

        if (n.at[i].folder) {
            ours = (*name == 's' || *name == 'c') && is_number(name + 1);
            snprintf(path, sizeof(path), "%s/%s", folder, name);
            ours = ours && st->ops->list(st, path, check_file, NULL, NULL) == 0;
        } else {
            ours = !strcmp(name, WR_PROBE_LOCK) || !strcmp(name, "big") ||
                   !strcmp(name, "write");
        }
    }
    free(n.at);
    return ours;
}

/* --- what a plan needs --- */

struct wr_probe_needs wr_probe_needs_of(const struct wr_probe_plan *plan)
{
    struct wr_probe_needs n = {0};

    for (size_t i = 0; i < plan->test_count; i++) {
        enum wr_probe_op op = plan->tests[i].op;

        n.reads |= op == WR_PROBE_READ;
        n.writes |= op == WR_PROBE_WRITE || op == WR_PROBE_SYNC;
        n.files |= op == WR_PROBE_FILES;
        n.creates |= op == WR_PROBE_CREATE;
    }
    return n;
}

/* The sum, or more than anything has. */
static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t wr_probe_space(const struct wr_probe_plan *plan)
{
    struct wr_probe_needs n = wr_probe_needs_of(plan);
    uint64_t sum, small = 0;

    for (size_t i = 0; i < plan->mix.count; i++)
        small += (uint64_t)((double)WR_ALIGN_UP(plan->mix.part[i].bytes + BLOCK,
                                                (uint64_t)BLOCK) *
                            plan->mix.part[i].share * plan->small_files) +
                 plan->mix.part[i].bytes;
    sum = n.reads && !plan->file ? plan->file_bytes : 0;
    sum = add(sum, n.writes ? plan->file_bytes : 0);
    return add(sum, (n.files ? small : 0) + (n.creates ? small : 0));
}

void wr_probe_noise(void *buf, size_t len, uint64_t seed)
{
    uint64_t key = wr_mix64(seed), word;
    uint8_t *p = buf;
    size_t i = 0;

    for (; i + sizeof(word) <= len; i += sizeof(word)) {
        word = wr_mix64(key += UINT64_C(0x9e3779b97f4a7c15));
        memcpy(p + i, &word, sizeof(word));
    }
    for (; i < len; i++)
        p[i] = (uint8_t)(key >> (i % 8 * 8));
}

/* --- what dead probes left --- */

static bool has_form(const char *name)
{
    size_t n = strlen(FORM);

    if (strncmp(name, FORM, n) || strlen(name) != n + RANDOMS)
        return false;
    for (const char *c = name + n; *c; c++)
        if (!wr_is_alnum(*c))
            return false;
    return true;
}

struct leftovers {
    char (*names)[24]; /* owned */
    size_t count, cap;
};

static int note_leftover(void *arg, const struct wr_entry *e)
{
    struct leftovers *l = arg;

    if (e->kind != WR_KIND_DIR || !has_form(e->name))
        return 0;
    if (!wr_grow(&l->names, &l->cap, l->count + 1, sizeof(*l->names)))
        return WEIR_ENOMEM;
    snprintf(l->names[l->count++], sizeof(*l->names), "%s", e->name);
    return 0;
}

/* Opens the lock in a folder that is ours and takes it; -1 and errno when its
 * probe lives, or it is not what it should be. */
static int take_lock_in(struct wr_store *st, const char *folder, int dir)
{
    struct stat in = {0}, sb;
    /* To be written: NFS locks no other files. */
    int fd = openat(dir, "lock", O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT && fstat(dir, &in) == 0 &&
        in.st_mtime + UNLOCKED_S < time(NULL))
        st->ops->change(st, WR_REMOVE, folder, NULL, NULL); /* if empty */
    if (fd < 0)
        return -1;
    if (fstat(fd, &sb) < 0 || !S_ISREG(sb.st_mode) || sb.st_uid != geteuid() ||
        flock(fd, LOCK_EX | LOCK_NB) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int take_lock(struct wr_store *st, const char *folder)
{
    char local[PATH_CAP];
    int dir = -1, r, fd, e;

    if (!st->ops->local_path(st, folder, local, sizeof(local)))
        return -1;
    r = wr_own_dir(local, 0, &dir, NULL);
    if (r < 0) {
        errno = r == WEIR_ENOENT ? ENOENT : EACCES;
        return -1;
    }
    errno = 0;
    fd = take_lock_in(st, folder, dir);
    e = errno;
    close(dir);
    errno = e;
    return fd;
}

/* What cannot be removed stays: that is no reason not to probe. `own` follows no
 * links, wherever one is put meanwhile. */
static void remove_leftovers(struct wr_store *st, struct wr_store *own)
{
    struct leftovers l = {0};
    int r = own->ops->list(own, "", note_leftover, &l, NULL);

    for (size_t i = 0; r == 0 && i < l.count; i++) {
        int fd = take_lock(st, l.names[i]);

        if (fd < 0)
            continue;
        if (tree_is_ours(st, l.names[i]))
            wr_tree_remove(own, l.names[i], WR_PROBE_TREE, NULL);
        close(fd);
    }
    free(l.names);
}

static void tidy_folder(struct wr_probe_place *p)
{
    struct wr_store *own;

    if (!p->store->ops->local_path ||
        wr_store_open_own(p->plan->url, &own, NULL) < 0)
        return;
    remove_leftovers(p->store, own);
    wr_store_close(own);
}

/* --- the folder --- */

static void random_name(char *buf, size_t cap)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    uint64_t dice = wr_mix64(wr_clock_ns() ^ (uint64_t)getpid() << 32);
    size_t n = strlen(FORM);

    if (getrandom(&dice, sizeof(dice), GRND_NONBLOCK) < 0)
        errno = 0; /* the clock's will do */
    snprintf(buf, cap, FORM);
    for (unsigned i = 0; i < RANDOMS; i++, dice /= sizeof(letters) - 1)
        buf[n + i] = letters[dice % (sizeof(letters) - 1)];
    buf[n + RANDOMS] = '\0';
}

/* WEIR_EEXIST when another probe took the lock first: it takes the folder for
 * one that was left behind, and removes it. */
static int put_lock(struct wr_probe_place *p, weir_err *err)
{
    char rel[WR_PROBE_PATH];
    struct stat sb;
    struct wr_object *o;
    int r;

    snprintf(rel, sizeof(rel), "%s/lock", p->folder);
    r = p->store->ops->object_open(p->store, rel, WR_OPEN_CREATE, &o, err);
    if (r < 0)
        return r;
    r = o->ops->close(o, /* sync= */ false, err);
    if (r < 0 || !p->store->ops->local_path)
        return r;
    errno = 0;
    p->lock_fd = take_lock(p->store, p->folder);
    if (p->lock_fd < 0 ? errno == EWOULDBLOCK || errno == ENOENT
                       : fstat(p->lock_fd, &sb) == 0 && sb.st_nlink == 0)
        return wr_fail(err, WEIR_EEXIST, "another probe removes '%s'",
                       p->folder);
    return 0; /* also where no file can be locked */
}

static int make_folder(struct wr_probe_place *p, weir_err *err)
{
    struct wr_store *st = p->store;
    int r = WEIR_EEXIST;

    if (!st->ops->change)
        return wr_fail(err, WEIR_ENOTSUP, "read-only storage");
    for (unsigned i = 0; i < TRIES && r == WEIR_EEXIST; i++) {
        random_name(p->folder, sizeof(p->folder));
        r = st->ops->change(st, WR_MKDIR_PRIVATE, p->folder, NULL, err);
        if (r < 0) {
            p->folder[0] = '\0';
            continue;
        }
        r = put_lock(p, err);
        if (r == WEIR_EEXIST && p->lock_fd >= 0) {
            close(p->lock_fd);
            p->lock_fd = -1;
        }
    }
    return r;
}

static int check_space(struct wr_probe_place *p, uint64_t *ret_free,
                       weir_err *err)
{
    uint64_t need = wr_probe_space(p->plan), want = add(need, MARGIN);
    uint64_t free_bytes;
    char a[32], b[32];
    int r;

    if (!p->store->ops->space)
        return 0;
    r = p->store->ops->space(p->store, &free_bytes, err);
    if (r == WEIR_ENOTSUP) /* a store around one that does not know */
        return 0;
    if (r < 0)
        return r;
    *ret_free = free_bytes;
    if (!need || want <= free_bytes)
        return 0;
    return wr_fail(
        err, WEIR_ENOSPC,
        "%" PRIu64 " bytes (%s) are needed, %" PRIu64 " (%s) are free", want,
        wr_format_bytes(a, sizeof(a), (double)want), free_bytes,
        wr_format_bytes(b, sizeof(b), (double)free_bytes));
}

static int open_file(struct wr_probe_place *p, weir_err *err)
{
    struct wr_stat sb;
    char *leaf;
    int r;

    r = wr_store_open(p->plan->file, &p->file_store, &leaf, err);
    if (r < 0)
        return r;
    if (!leaf)
        return wr_fail(err, WEIR_EINVAL, "'%s': not a file", p->plan->file);
    p->read_store = p->file_store;
    p->read_path = leaf;
    r = p->read_store->ops->stat(p->read_store, leaf, &sb, err);
    if (r < 0)
        return r;
    if (sb.kind != WR_KIND_FILE) /* a pipe would wait, a device has no size */
        return wr_fail(err, WEIR_EINVAL, "'%s': not a regular file",
                       p->plan->file);
    p->read_bytes = sb.size;
    return 0;
}

static int open_store(struct wr_probe_place *p, weir_err *err)
{
    char *leaf;
    int r;

    r = wr_store_open(p->plan->url, &p->store, &leaf, err);
    if (r < 0)
        return r;
    if (!leaf)
        return 0;
    free(leaf);
    return wr_fail(err, WEIR_EINVAL, "'%s': not a folder", p->plan->url);
}

static int prepare_folder(struct wr_probe_place *p, uint64_t *ret_free,
                          weir_err *err)
{
    struct wr_probe_needs n = wr_probe_needs_of(p->plan);
    int r;

    tidy_folder(p);
    r = check_space(p, ret_free, err);
    if (r == 0 &&
        ((n.reads && !p->plan->file) || n.writes || n.files || n.creates))
        r = make_folder(p, err);
    return r < 0 ? wr_fail_prefix(err, r, "'%s'", p->plan->url) : 0;
}

static int name_files(struct wr_probe_place *p, weir_err *err)
{
    const struct wr_probe_plan *plan = p->plan;

    snprintf(p->write_path, sizeof(p->write_path), "%s/write", p->folder);
    if (!plan->file) {
        p->read_store = p->store;
        p->read_bytes = plan->file_bytes;
        if (asprintf(&p->read_path, "%s/big", p->folder) < 0)
            p->read_path = NULL;
    }
    p->small_bytes = wr_probe_mix_sizes(&plan->mix, plan->small_files,
                                        plan->seed);
    return p->read_path && p->small_bytes
               ? 0
               : wr_fail(err, WEIR_ENOMEM, "out of memory");
}

int wr_probe_place_open(struct wr_probe_place *p,
                        const struct wr_probe_plan *plan, uint64_t *ret_free,
                        weir_err *err)
{
    int r;

    *p = (struct wr_probe_place){.plan = plan, .lock_fd = -1};
    r = open_store(p, err);
    if (r == 0 && plan->file)
        r = open_file(p, err);
    if (r == 0)
        r = prepare_folder(p, ret_free, err);
    if (r == 0)
        r = name_files(p, err);
    if (r < 0)
        wr_probe_place_close(p, NULL);
    return r;
}

int wr_probe_place_close(struct wr_probe_place *p, weir_err *err)
{
    int r = 0;

    if (p->folder[0])
        r = wr_tree_remove(p->store, p->folder, WR_PROBE_TREE, err);
    if (p->lock_fd >= 0)
        close(p->lock_fd);
    free(p->read_path);
    free(p->small_bytes);
    wr_store_close(p->file_store);
    wr_store_close(p->store);
    *p = (struct wr_probe_place){.lock_fd = -1};
    return r;
}
