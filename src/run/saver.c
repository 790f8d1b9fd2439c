/* saver.c - the checkpoints of a run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/saver.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "format/writer.h"
#include "measure/saves.h"
#include "run/job.h"
#include "storage/storage.h"
#include "weir/error.h"

/* --- plain files that a run writes besides its checkpoints --- */

#define PIECE ((size_t)1 << 20)

char *wr_run_extra_folder(const struct wr_run_plan *p)
{
    bool saves = p->w->workflow.checkpoint && p->w->weir.checkpoint_files.count;
    const char *fast = p->ckpt.fast;
    size_t len = fast ? strlen(fast) : 0;
    char *url;

    if (!len || p->no_ckpt || (!saves && !p->w->weir.final_files))
        return NULL;
    while (len > 1 && fast[len - 1] == '/')
        len--;
    return asprintf(&url, "%.*s-files", (int)len, fast) < 0 ? NULL : url;
}

/* Whether a benchmark may write there. */
static int run_extra_check(const struct wr_run_job *job, weir_err *err)
{
    char *url = wr_run_extra_folder(job->plan);
    int r = url ? wr_bench_store_check(url, err) : 0;

    free(url);
    return r;
}

/* The folder, made if it is missing, as a store. */
static int open_folder(const struct wr_run_job *job, struct wr_store **ret,
                       weir_err *err)
{
    char *url = wr_run_extra_folder(job->plan), *parent = NULL, *name = NULL;
    struct wr_store *st = NULL;
    int r;

    if (!url)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_url_split(url, &parent, &name, err);
    if (r == 0)
        r = wr_store_open_own(parent, &st, err);
    if (r == 0)
        r = wr_store_change(st, WR_MKDIR, name, NULL, err);
    wr_store_close(st);
    if (r == 0 || r == WEIR_EEXIST)
        r = wr_bench_store_mark(url, err);
    if (r == 0)
        r = wr_store_open_own(url, ret, err);
    free(url);
    free(parent);
    free(name);
    return r;
}

static int fill(struct wr_object *o, uint64_t bytes, uint64_t seed,
                weir_err *err)
{
    uint64_t *piece = malloc(PIECE);
    int r = 0;

    if (!piece)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < PIECE / sizeof(*piece); k++)
        piece[k] = wr_rng_at(seed, 0, k);
    for (uint64_t at = 0; r == 0 && at < bytes; at += PIECE)
        r = wr_object_write(o, piece, (size_t)WR_MIN(bytes - at, PIECE), at,
                            err);
    free(piece);
    return r;
}

/* Replaces what an earlier run left. */
static int write_file(const struct wr_run_job *job, struct wr_store *st,
                      const char *name, uint64_t bytes, weir_err *err)
{
    bool sync = job->plan->w->checkpoint.fsync;
    struct wr_object *o;
    int r;

    wr_store_change(st, WR_REMOVE, name, NULL, NULL);
    r = st->ops->object_open(st, name, WR_OPEN_CREATE, &o, err);
    if (r < 0)
        return r;
    r = fill(o, bytes, job->plan->w->train.seed, err);
    if (r < 0) {
        o->ops->close(o, /* sync= */ false, NULL);
        return r;
    }
    return o->ops->close(o, sync, err);
}

/* The files that belong to a checkpoint; rank 0 writes them. */
static int run_extra_checkpoint(struct wr_run_job *job, uint64_t step,
                                weir_err *err)
{
    const struct wr_wl_list *files = &job->plan->w->weir.checkpoint_files;
    struct wr_store *st;
    char name[64];
    int r;

    if (!files->count || job->rank != 0)
        return 0;
    r = open_folder(job, &st, err);
    if (r < 0)
        return r;
    for (unsigned k = 0; r == 0 && k < files->count; k++) {
        snprintf(name, sizeof(name), "step-%" PRIu64 "-%u", step % 2, k);
        r = write_file(job, st, name, files->item[k], err);
    }
    wr_store_close(st);
    return r;
}

int wr_run_extra_final(struct wr_run_job *job, weir_err *err)
{
    const struct wr_workload *w = job->plan->w;
    unsigned accels = job->plan->accelerators;
    struct wr_store *st;
    char name[64];
    int r;

    if (!w->weir.final_files || !job->plan->ckpt.fast || job->plan->no_ckpt)
        return 0;
    r = open_folder(job, &st, err);
    if (r < 0)
        return r;
    for (uint64_t k = 0; r == 0 && k < accels * w->weir.final_files; k++) {
        snprintf(name, sizeof(name), "end-%" PRIu64 "-%" PRIu64,
                 job->first + k % accels, k / accels);
        r = write_file(job, st, name, w->weir.final_bytes, err);
    }
    wr_store_close(st);
    return r;
}

/* --- the checkpoints of a run --- */

#define KEEP 2 /* steps: a benchmark does not fill the disk */

/* WEIR_ECANCELED when the run is stopped meanwhile. */
static int run_pause(const struct wr_run_job *job, double seconds,
                     weir_err *err)
{
    uint64_t end = wr_clock_ns() + (uint64_t)(fmin(seconds, 1e6) * 1e9), now;

    while ((now = wr_clock_ns()) < end) {
        if (job->plan->stopped && job->plan->stopped())
            return wr_fail(err, WEIR_ECANCELED, "stopped");
        wr_clock_sleep_until(WR_MIN(end, now + 100 * WR_NS_PER_MS));
    }
    return 0;
}

/* --- the state --- */

/* One line of a list of tensors; a state that is scaled has fewer elements. */
static int add_line(struct wr_bytes *to, uint64_t rank,
                    const struct wr_wl_tensor *t, double scale, weir_err *err)
{
    uint64_t n = (uint64_t)fmax(1, floor((double)t->elements * scale));
    uint8_t *at = wr_bytes_room(to, 160);
    int len;

    if (!at)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    len = snprintf((char *)at, 160, "r%05" PRIu64 ".%s %s %" PRIu64 "\n", rank,
                   t->name, t->dtype, n);
    to->len += (size_t)len;
    return 0;
}

static int list_tensors(const struct wr_run_job *job, struct wr_bytes *to,
                        weir_err *err)
{
    const struct wr_run_plan *p = job->plan;
    int r = 0;

    for (unsigned a = 0; r == 0 && a < p->accelerators; a++) {
        struct wr_wl_tensor *tensors = NULL;
        size_t count = 0;

        r = wr_workload_tensors(p->w, job->first + a, job->world, &tensors,
                                &count, err);
        for (size_t k = 0; r == 0 && k < count; k++)
            r = add_line(to, job->first + a, &tensors[k], WR_MIN(p->scale, 1.0),
                         err);
        free(tensors);
    }
    return r;
}

static int make_state(struct wr_run_saver *s, weir_err *err)
{
    struct wr_bytes text = {0};
    int r = list_tensors(s->job, &text, err);

    /* A rank that has nothing to save (of ZeRO stage 0, say) still takes part. */
    if (r == 0 && text.len)
        r = wr_ckpt_load_parse((char *)text.bytes, text.len, "checkpoint",
                               &s->load, err);
    free(text.bytes);
    if (r == 0 && s->load.count)
        r = wr_ckpt_load_fill(&s->load, err);
    s->job->ret->state_bytes = (double)s->load.bytes;
    return r;
}

/* --- opening --- */

static int check_tiers(const weir_ckpt_config *cfg, weir_err *err)
{
    int r = wr_bench_store_check(cfg->fast, err);

    return r == 0 && cfg->slow ? wr_bench_store_check(cfg->slow, err) : r;
}

static int write_extra(void *job, uint64_t step, weir_err *err)
{
    return run_extra_checkpoint(job, step, err);
}

static int open_store(struct wr_run_saver *s, weir_err *err)
{
    struct wr_run_job *job = s->job;
    const struct wr_run_plan *p = job->plan;
    weir_ckpt_config cfg = p->ckpt;
    weir_ckpt_found *found = NULL;
    int r;

    cfg.rank = job->rank;
    cfg.world = job->ranks;
    cfg.comm = job->ranks > 1 ? p->comm_url : NULL;
    cfg.keep_last = KEEP;
    cfg.reserve = p->level == WEIR_LEVEL_SNAPSHOT ? s->load.bytes : 0;
    s->to = (struct wr_saves){
        .to = {p->note, p->arg},
        .stopped = p->stopped,
        .random = true,
        .every = (uint64_t)WR_MAX(p->w->checkpoint.steps_between, (int64_t)0),
        .also = write_extra,
        .also_arg = job};
    r = wr_saves_open(&s->to, &cfg, err);
    if (r == 0)
        r = weir_ckpt_look(s->to.c, WEIR_LATEST, &found, err);
    if (r > 0)
        s->base = found->step;
    weir_ckpt_found_free(&found);
    return r < 0 ? r : 0;
}

int wr_run_saver_open(struct wr_run_saver *s, struct wr_run_job *job,
                      weir_err *err)
{
    const struct wr_run_plan *p = job->plan;
    bool saves = p->w->workflow.checkpoint;
    weir_err why;
    int r;

    *s = (struct wr_run_saver){.job = job};
    if (p->no_ckpt || !p->ckpt.fast)
        return 0;
    r = run_extra_check(job, &why);
    if (r == 0 && saves)
        r = make_state(s, &why);
    if (r == 0 && saves)
        r = check_tiers(&p->ckpt, &why);
    /* All look before one of them makes what the others would find. */
    r = job->ranks > 1 ? wr_comm_agree(p->comm, r, &why, err)
        : r < 0        ? wr_fail_as(err, r, &why)
                       : 0;
    return r < 0 || !saves ? r : open_store(s, err);
}

/* --- when --- */

bool wr_run_saver_due_step(const struct wr_run_saver *s, uint64_t epoch,
                           uint64_t steps)
{
    return epoch + 1 >= s->job->plan->w->checkpoint.after_epoch &&
           wr_saves_is_due(&s->to, steps);
}

bool wr_run_saver_due_epoch(const struct wr_run_saver *s, uint64_t epochs)
{
    const struct wr_workload *w = s->job->plan->w;
    uint64_t between = WR_MAX(w->checkpoint.epochs_between, 1u);

    return s->to.c && !s->to.every && epochs >= w->checkpoint.after_epoch &&
           (epochs - w->checkpoint.after_epoch) % between == 0;
}

/* --- saving --- */

static weir_ckpt_state state_of(const struct wr_run_saver *s)
{
    return (weir_ckpt_state){.step = s->base + s->count,
                             .tensors = s->load.tensors,
                             .count = s->load.count};
}

int wr_run_saver_save(struct wr_run_saver *s, uint64_t epoch, weir_err *err)
{
    weir_ckpt_state state;
    int r;

    if (epoch + 1 != s->to.epoch)
        s->to.block = 0;
    s->to.epoch = epoch + 1;
    s->to.block++;
    s->to.zero_ns = s->job->ret->start_ns;
    s->count++;
    state = state_of(s);
    r = wr_saves_save(&s->to, &state, s->job->plan->level, err);
    if (r == 0)
        wr_ckpt_load_step(&s->load, state.step);
    return r;
}

/* Reads the newest step back; all ranks. */
static int saver_restore(struct wr_run_saver *s, weir_err *err)
{
    struct wr_run_result *ret = s->job->ret;
    const weir_ckpt_state into = state_of(s);
    struct wr_saved load;
    int r;

    s->to.zero_ns = ret->start_ns;
    r = wr_saves_restore(&s->to, &into, &load, err);
    if (r == 0)
        return wr_fail(err, WEIR_ENOENT, "there is no checkpoint to read");
    if (r < 0)
        return r;
    load.bytes = s->load.bytes;
    if (ret->restore_count < WR_SAVES_MAX &&
        wr_grow(&ret->restores, &s->cap, ret->restore_count + 1, sizeof(load)))
        ret->restores[ret->restore_count++] = load;
    return 0;
}

/* --- a description that only saves --- */

static int write_all(struct wr_run_job *job, uint64_t count, weir_err *err)
{
    double pause = fabs(job->plan->w->checkpoint.time_between);
    int r = 0;

    for (uint64_t k = 0; r == 0 && k < count; k++) {
        wr_run_tell(job, "saving", NULL);
        if (k)
            r = run_pause(job, pause, err);
        if (r == 0)
            r = wr_run_saver_save(&job->saver, 0, err);
    }
    return r;
}

int wr_run_only_save(struct wr_run_job *job, weir_err *err)
{
    const struct wr_workload *w = job->plan->w;
    uint64_t writes = (uint64_t)WR_MAX(w->checkpoint.writes, (int64_t)0);
    uint64_t reads = (uint64_t)WR_MAX(w->checkpoint.reads, (int64_t)0);
    int r;

    job->ret->start_ns = wr_clock_ns();
    job->ret->start_wall_ns = wr_clock_wall_ns();
    r = write_all(job, writes || reads ? writes : 1, err);
    if (r == 0 && writes)
        r = weir_ckpt_wait(job->saver.to.c, WEIR_LATEST, WEIR_LEVEL_FAST, -1,
                           err);
    for (uint64_t k = 0; r == 0 && k < reads; k++) {
        wr_run_tell(job, "restoring", NULL);
        r = saver_restore(&job->saver, err);
    }
    return r;
}

/* --- the end --- */

/* The tiers have all of it; what is told is the state, not its file. */
int wr_run_saver_close(struct wr_run_saver *s, weir_err *err)
{
    struct wr_run_result *ret = s->job ? s->job->ret : NULL;
    int r = 0;

    if (s->to.c) {
        r = wr_saves_settle(&s->to, WEIR_LEVEL_SLOW, err);
        if (r < 0)
            wr_saves_close(&s->to, NULL);
        else
            r = wr_saves_close(&s->to, err);
    }
    if (ret) {
        ret->saves = s->to.saves;
        ret->save_count = s->to.count;
        for (size_t k = 0; k < ret->save_count; k++)
            ret->saves[k].bytes = s->load.bytes;
    }
    wr_ckpt_load_done(&s->load);
    return r;
}
