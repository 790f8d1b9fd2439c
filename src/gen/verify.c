/* verify.c - makes every file of a data set again, and compares.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/verify.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/units.h"
#include "gen/dataset.h"
#include "gen/form.h"
#include "gen/set_job.h"
#include "workload/derive.h"

/* --- an object that compares what is written with what is there --- */

static int64_t compare_read(struct wr_object *o, void *buf, size_t len,
                            uint64_t offset, weir_err *err)
{
    struct wr_compare *c = (struct wr_compare *)o;

    return c->file->ops->read(c->file, buf, len, offset, err);
}

/* The first byte in which they differ; `len` if none. */
static size_t first_difference(const uint8_t *a, const uint8_t *b, size_t len)
{
    size_t k = 0;

    if (!memcmp(a, b, len))
        return len;
    while (a[k] == b[k])
        k++;
    return k;
}

static int compare_write(struct wr_object *o, const void *bytes, size_t len,
                         uint64_t offset, weir_err *err)
{
    struct wr_compare *c = (struct wr_compare *)o;
    const uint8_t *want = bytes;

    c->end = WR_MAX(c->end, offset + len);
    while (len) {
        size_t some = WR_MIN(len, WR_COMPARE_BYTES), same;
        int64_t got = wr_object_read_all(c->file, c->buf, some, offset, err);

        if (got < 0)
            return (int)got;
        same = first_difference(want, c->buf, (size_t)got);
        c->bytes += same;
        if (same < some) {
            c->wrong = WR_MIN(c->wrong, offset + same);
            return 0; /* what follows is no better */
        }
        want += some;
        offset += some;
        len -= some;
    }
    return 0;
}

static int compare_resize(struct wr_object *o, uint64_t size, weir_err *err)
{
    struct wr_compare *c = (struct wr_compare *)o;

    (void)err;
    c->end = size;
    return 0;
}

static int compare_close(struct wr_object *o, bool sync, weir_err *err)
{
    (void)o;
    (void)sync;
    (void)err;
    return 0;
}

static const struct wr_object_ops compare_ops = {
    .read = compare_read,
    .write = compare_write,
    .resize = compare_resize,
    .close = compare_close,
};

void wr_compare_init(struct wr_compare *c, struct wr_object *file, uint8_t *buf)
{
    *c = (struct wr_compare){.object = {&compare_ops},
                             .file = file,
                             .buf = buf,
                             .wrong = UINT64_MAX};
}

/* --- checking files --- */

struct verify_run {
    const struct wr_verify_config *cfg; /* borrowed */
    struct wr_store *store;             /* owned */
    struct wr_workload *w;              /* owned */
    const struct wr_gen_form *form;     /* borrowed, static */
    struct wr_gen_stock stock;
    struct wr_crew crew;
    uint64_t seed, files;
    _Atomic uint64_t next, done, bytes, damaged, missing, extra;
    pthread_mutex_t lock; /* one problem is told at a time */
};

/* What a thread works with. */
struct verifier {
    struct verify_run *run; /* borrowed */
    struct wr_gen_maker m;
    uint8_t *buf; /* owned */
};

static void tell(struct verify_run *run, const char *path, const char *what)
{
    pthread_mutex_lock(&run->lock);
    if (run->cfg->problem)
        run->cfg->problem(run->cfg->arg, path, what);
    pthread_mutex_unlock(&run->lock);
}

static int name_file(const struct verify_run *run, uint64_t i, char *buf)
{
    uint64_t train = run->w->dataset.files_train;

    return wr_workload_file_name(run->w, i >= train, i >= train ? i - train : i,
                                 buf, PATH_MAX);
}

/* Says what differs, if anything does. */
static void judge(struct verify_run *run, const char *path,
                  const struct wr_compare *c, uint64_t size)
{
    char what[128];

    run->bytes += c->bytes;
    if (c->wrong < size)
        snprintf(what, sizeof(what), "byte %" PRIu64 " is wrong", c->wrong);
    else if (size != c->end)
        snprintf(what, sizeof(what), "has %" PRIu64 " bytes, not %" PRIu64,
                 size, c->end);
    else
        return;
    run->damaged++;
    tell(run, path, what);
}

/* Opens a file; *ret is NULL where it is missing, which is told. */
static int open_file(struct verify_run *run, const char *path,
                     struct wr_object **ret, uint64_t *ret_size, weir_err *err)
{
    struct wr_stat is;
    weir_err why;
    int r = run->store->ops->stat(run->store, path, &is, &why);

    *ret = NULL;
    if (r == 0)
        r = run->store->ops->object_open(run->store, path, WR_OPEN_READ, ret,
                                         &why);
    if (r == 0)
        *ret_size = is.size;
    if (r != WEIR_ENOENT)
        return wr_fail_as(err, r, &why);
    run->missing++;
    tell(run, path, "is missing");
    return 0;
}

static int check_main(struct verifier *v, const struct wr_gen_spec *s,
                      const char *path, weir_err *err)
{
    struct wr_compare c;
    struct wr_object *o;
    uint64_t size;
    int r = open_file(v->run, path, &o, &size, err);

    if (r < 0 || !o)
        return r;
    wr_compare_init(&c, o, v->buf);
    wr_pen_init(&v->m.pen, &c.object, v->m.buf);
    r = v->run->form->make(&v->m, s, err);
    if (r == 0)
        r = wr_pen_flush(&v->m.pen, err);
    if (r == 0)
        judge(v->run, path, &c, size);
    o->ops->close(o, /* sync= */ false, NULL);
    return r;
}

static int check_side(struct verifier *v, const struct wr_gen_spec *s,
                      const char *path, unsigned k, weir_err *err)
{
    struct wr_bytes want = {0};
    struct wr_compare c;
    struct wr_object *o;
    char full[PATH_MAX];
    uint64_t size;
    int r;

    if (!wr_gen_side_path(v->run->form, path, k, full))
        return wr_fail(err, WEIR_ELIMIT, "'%s': path too long", path);
    r = open_file(v->run, full, &o, &size, err);
    if (r < 0 || !o)
        return r;
    r = v->run->form->side(s, k, &want, err);
    wr_compare_init(&c, o, v->buf);
    if (r == 0)
        r = wr_object_write(&c.object, want.bytes, want.len, 0, err);
    if (r == 0)
        judge(v->run, full, &c, size);
    free(want.bytes);
    o->ops->close(o, /* sync= */ false, NULL);
    return r;
}

static int check_file(struct verifier *v, uint64_t i, weir_err *err)
{
    struct verify_run *run = v->run;
    struct wr_gen_spec s;
    char path[PATH_MAX];
    int r = wr_gen_spec_init(&s, run->w, run->seed, i, err);

    if (r == 0 && name_file(run, i, path) < 0)
        r = wr_fail(err, WEIR_ELIMIT, "a file's name is too long");
    if (r == 0)
        r = check_main(v, &s, path, err);
    for (unsigned k = 0; r == 0 && run->form->sides && run->form->sides[k]; k++)
        r = check_side(v, &s, path, k, err);
    run->done++;
    return r;
}

static int work(void *arg, unsigned thread, weir_err *err)
{
    struct verifier v = {.run = arg, .buf = malloc(WR_COMPARE_BYTES)};
    uint64_t i;
    int r = v.buf ? wr_gen_maker_init(&v.m, &v.run->stock, err)
                  : wr_fail(err, WEIR_ENOMEM, "out of memory");

    (void)thread;
    while (r == 0 && !v.run->crew.stop && (i = v.run->next++) < v.run->files)
        r = check_file(&v, i, err);
    wr_gen_maker_done(&v.m);
    free(v.buf);
    return r;
}

static int report(void *arg)
{
    struct verify_run *run = arg;
    const struct wr_dataset_state s = {
        .files_done = run->done, .files = run->files, .bytes_done = run->bytes};

    return run->cfg->progress ? run->cfg->progress(run->cfg->arg, &s) : 0;
}

/* --- files that do not belong there --- */

/* A walk over one folder. */
struct extra_walk {
    struct verify_run *run; /* borrowed */
    const char *path;       /* borrowed: of the folder; "" for the first */
    unsigned depth;
};

/* Whether `path` is the name of file `i`, or of one beside it. */
static bool is_named(const struct verify_run *run, const char *path, uint64_t i)
{
    char want[PATH_MAX], side[PATH_MAX];

    if (i >= run->files || name_file(run, i, want) < 0)
        return false;
    if (!strcmp(path, want))
        return true;
    for (unsigned k = 0; run->form->sides && run->form->sides[k]; k++)
        if (wr_gen_side_path(run->form, want, k, side) && !strcmp(path, side))
            return true;
    return false;
}

/* Names have the number of their file in them: "PREFIX_NUMBER_of_...". */
static bool belongs(const struct verify_run *run, const char *path)
{
    const char *base = strrchr(path, '/');
    const char *prefix = run->w->dataset.file_prefix;
    size_t len = strlen(prefix);
    uint64_t i;

    base = base ? base + 1 : path;
    if (strncmp(base, prefix, len) || base[len] != '_')
        return false;
    base += len + 1;
    return wr_take_digits(&base, NULL, &i) &&
           (is_named(run, path, i) ||
            is_named(run, path, i + run->w->dataset.files_train));
}

static int look_at(void *arg, const struct wr_entry *e)
{
    const struct extra_walk *w = arg;
    struct verify_run *run = w->run;
    char path[PATH_MAX];
    struct extra_walk next = {run, path, w->depth + 1};

    if (e->name[0] == '.') /* an index, say */
        return 0;
    if (snprintf(path, sizeof(path), "%s%s%s", w->path, *w->path ? "/" : "",
                 e->name) >= (int)sizeof(path))
        return 0;
    if (e->kind == WR_KIND_DIR && w->depth < 3)
        return run->store->ops->list(run->store, path, look_at, &next, NULL);
    if (belongs(run, path))
        return 0;
    run->extra++;
    tell(run, path, "does not belong to the data set");
    return 0;
}

/* --- the whole --- */

static int load(struct verify_run *run, weir_err *err)
{
    char *leaf = NULL, *text = NULL;
    size_t len;
    weir_err why;
    int r = wr_store_open(run->cfg->url, &run->store, &leaf, err);

    if (r == 0 && leaf)
        r = wr_fail(err, WEIR_ENOENT, "'%s': is no folder", run->cfg->url);
    free(leaf);
    if (r < 0)
        return r;
    r = wr_gen_job_load(run->store, "", &text, &len, &why);
    if (r == WEIR_ENOENT)
        return wr_fail(err, r,
                       "'%s': there is no %s in it that says how it was made",
                       run->cfg->url, WR_GEN_JOB_FILE);
    if (r < 0)
        return wr_fail_as(err, r, &why);
    r = wr_gen_job_parse(WR_GEN_JOB_FILE, text, len, &run->w, &run->seed, err);
    free(text);
    if (r < 0)
        return r;
    run->form = wr_gen_form_of(run->w, err);
    return run->form ? 0 : (err ? err->code : WEIR_EINVAL);
}

static int verify(struct verify_run *run, weir_err *err)
{
    unsigned threads = run->cfg->threads ? run->cfg->threads : wr_cpu_count();
    struct extra_walk walk = {run, "", 0};
    int r;

    run->files = run->w->dataset.files_train + run->w->dataset.files_eval;
    threads = (unsigned)WR_MAX(
        1, WR_MIN(run->files, WR_MIN(threads, WR_CREW_MAX)));
    r = wr_gen_stock_init(&run->stock, run->w, run->seed, threads, err);
    run->crew = (struct wr_crew){.name = "weir-verify",
                                 .threads = threads,
                                 .work = work,
                                 .watch = report,
                                 .arg = run};
    if (r == 0)
        r = wr_crew_run(&run->crew, err);
    wr_gen_stock_done(&run->stock);
    return r < 0 ? r
                 : run->store->ops->list(run->store, "", look_at, &walk, err);
}

int wr_gen_verify(const struct wr_verify_config *cfg,
                  struct wr_verify_result *ret, weir_err *err)
{
    struct verify_run run = {.cfg = cfg, .lock = PTHREAD_MUTEX_INITIALIZER};
    uint64_t start = wr_clock_ns();
    int r = load(&run, err);

    if (r == 0)
        r = verify(&run, err);
    if (r == 0)
        *ret = (struct wr_verify_result){.files = run.done,
                                         .bytes = run.bytes,
                                         .damaged = run.damaged,
                                         .missing = run.missing,
                                         .extra = run.extra,
                                         .seed = run.seed,
                                         .elapsed_ns = wr_clock_ns() - start};
    wr_workload_free(run.w);
    wr_store_close(run.store);
    pthread_mutex_destroy(&run.lock);
    return r;
}
