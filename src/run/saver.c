/* saver.c - the checkpoints of a run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/saver.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "checkpoint/problem.h"
#include "format/writer.h"
#include "measure/bench_store.h"
#include "run/extra.h"
#include "run/job.h"
#include "weir/error.h"

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

static int is_stopped(void *arg, uint64_t done, uint64_t total)
{
    const struct wr_run_job *job = arg;

    return job->plan->stopped && job->plan->stopped();
}

static int check_tiers(const weir_ckpt_config *cfg, weir_err *err)
{
    int r = wr_bench_store_check(cfg->fast, err);

    return r == 0 && cfg->slow ? wr_bench_store_check(cfg->slow, err) : r;
}

static int mark_tiers(const weir_ckpt_config *cfg, weir_err *err)
{
    int r = wr_bench_store_mark(cfg->fast, err);

    return r == 0 && cfg->slow ? wr_bench_store_mark(cfg->slow, err) : r;
}

static int open_store(struct wr_run_saver *s, weir_err *err)
{
    struct wr_run_job *job = s->job;
    weir_ckpt_config cfg = job->plan->ckpt;
    weir_ckpt_found *found = NULL;
    int r;

    cfg.role = WEIR_CKPT_SAVE;
    cfg.rank = job->rank;
    cfg.world = job->ranks;
    cfg.comm = job->ranks > 1 ? job->plan->comm_url : NULL;
    cfg.keep_last = KEEP;
    cfg.reserve = job->plan->level == WEIR_LEVEL_SNAPSHOT ? s->load.bytes : 0;
    cfg.progress = is_stopped;
    cfg.progress_arg = job;
    r = weir_ckpt_open(&s->c, &cfg, err);
    if (r == 0)
        r = mark_tiers(&cfg, err);
    if (r == 0)
        r = weir_ckpt_look(s->c, WEIR_LATEST, &found, err);
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
    r = wr_run_extra_check(job, &why);
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
    const struct wr_workload *w = s->job->plan->w;

    return s->c && w->checkpoint.steps_between > 0 &&
           epoch + 1 >= w->checkpoint.after_epoch &&
           steps % (uint64_t)w->checkpoint.steps_between == 0;
}

bool wr_run_saver_due_epoch(const struct wr_run_saver *s, uint64_t epochs)
{
    const struct wr_workload *w = s->job->plan->w;
    uint64_t between = WR_MAX(w->checkpoint.epochs_between, 1u);

    return s->c && w->checkpoint.steps_between <= 0 &&
           epochs >= w->checkpoint.after_epoch &&
           (epochs - w->checkpoint.after_epoch) % between == 0;
}

/* --- saving --- */

static struct wr_run_save *new_save(struct wr_run_save **list, size_t *count,
                                    size_t *cap)
{
    if (*count >= WR_RUN_SAVES_MAX ||
        !wr_grow(list, cap, *count + 1, sizeof(**list)))
        return NULL;
    (*list)[*count] = (struct wr_run_save){.fast_s = NAN, .slow_s = NAN};
    return &(*list)[(*count)++];
}

static double seconds_of(uint64_t ns)
{
    return ns ? (double)ns * 1e-9 : NAN;
}

/* The store forgets old times: they are fetched as it goes. */
static void note_times(struct wr_run_saver *s)
{
    struct wr_run_result *ret = s->job->ret;

    for (size_t k = s->noted; k < ret->save_count; k++) {
        struct wr_run_save *save = &ret->saves[k];
        weir_ckpt_times t;

        if (weir_ckpt_times_of(s->c, save->step, &t) < 0)
            continue;
        save->fast_s = seconds_of(t.fast_ns);
        save->slow_s = s->job->plan->ckpt.slow ? seconds_of(t.slow_ns) : NAN;
    }
    while (s->noted + 16 < ret->save_count)
        s->noted++;
}

static void note_save(struct wr_run_saver *s, uint64_t step, uint64_t begun,
                      uint64_t wall)
{
    struct wr_run_result *ret = s->job->ret;
    struct wr_run_save *save = new_save(&ret->saves, &ret->save_count, &s->cap);

    if (!save)
        return;
    save->epoch = s->epoch + 1;
    save->block = s->blocks;
    save->step = step;
    save->bytes = s->load.bytes;
    save->at_s = (double)(begun - ret->start_ns) * 1e-9;
    save->stall_s = (double)(wr_clock_ns() - begun) * 1e-9;
    save->start_wall_ns = wall;
    note_times(s);
}

static struct wr_ckpt_listener listener_of(const struct wr_run_saver *s)
{
    const struct wr_run_plan *p = s->job->plan;

    return (struct wr_ckpt_listener){p->note, p->arg};
}

int wr_run_saver_save(struct wr_run_saver *s, uint64_t epoch, weir_err *err)
{
    uint64_t begun = wr_clock_ns(), wall = wr_clock_wall_ns();
    uint64_t step = s->base + ++s->count;
    weir_ckpt_state state = {
        .step = step, .tensors = s->load.tensors, .count = s->load.count};
    const struct wr_ckpt_listener to = listener_of(s);
    int r;

    if (epoch != s->epoch)
        s->blocks = 0;
    s->epoch = epoch;
    s->blocks++;
    r = weir_ckpt_save(s->c, &state, s->job->plan->level, err);
    r = wr_ckpt_tell_save(s->c, step, r, &to, err);
    if (r >= 0) /* what became of earlier ones, in the background */
        r = wr_ckpt_tell_problems(s->c, &to, err);
    if (r >= 0)
        r = wr_run_extra_checkpoint(s->job, step, err);
    if (r < 0)
        return r;
    note_save(s, step, begun, wall);
    wr_ckpt_load_step(&s->load, step);
    return 0;
}

/* Reads the newest step back; all ranks. */
static int saver_restore(struct wr_run_saver *s, weir_err *err)
{
    struct wr_run_result *ret = s->job->ret;
    size_t cap = ret->restore_count;
    struct wr_run_save *save;
    weir_ckpt_found *found = NULL;
    uint64_t begun = wr_clock_ns(), wall = wr_clock_wall_ns();
    int r = weir_ckpt_restore(s->c, WEIR_LATEST, s->load.tensors, s->load.count,
                              &found, err);

    if (r == 0)
        return wr_fail(err, WEIR_ENOENT, "there is no checkpoint to read");
    if (r < 0)
        return r;
    save = new_save(&ret->restores, &ret->restore_count, &cap);
    if (save) {
        save->step = found->step;
        save->bytes = s->load.bytes;
        save->at_s = (double)(begun - ret->start_ns) * 1e-9;
        save->stall_s = (double)(wr_clock_ns() - begun) * 1e-9;
        save->start_wall_ns = wall;
    }
    weir_ckpt_found_free(&found);
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
        r = weir_ckpt_wait(job->saver.c, WEIR_LATEST, WEIR_LEVEL_FAST, -1, err);
    for (uint64_t k = 0; r == 0 && k < reads; k++) {
        wr_run_tell(job, "restoring", NULL);
        r = saver_restore(&job->saver, err);
    }
    return r;
}

/* --- the end --- */

int wr_run_saver_close(struct wr_run_saver *s, weir_err *err)
{
    int r = 0;

    if (s->c) {
        const struct wr_ckpt_listener to = listener_of(s);

        r = wr_ckpt_tell_problems(s->c, &to, err);
        if (r == 0)
            r = weir_ckpt_wait(s->c, WEIR_LATEST, WEIR_LEVEL_SLOW, -1, err);
        s->noted = 0;
        note_times(s);
        if (r < 0)
            weir_ckpt_close(&s->c, NULL);
        else
            r = weir_ckpt_close(&s->c, err);
    }
    wr_ckpt_load_done(&s->load);
    return r;
}
