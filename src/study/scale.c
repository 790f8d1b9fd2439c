/* scale.c - how much of the paper's study is run: quick, default or full.
 * SPDX-License-Identifier: Apache-2.0
 *
 * "To the letter" is section IV of the paper: 16,384 pictures in batches of 64,
 * 142 iterations, a checkpoint every 20 of 100, six runs of which the first is
 * discarded. The step at batch 64 is never shortened: an HDD with one thread
 * needs 0.59 s a batch, which a shorter step would not hide. The quick study
 * has a quarter of the batch for a quarter of the step. */
#include "study/scale.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "measure/accelerator.h"

#define MIB (UINT64_C(1) << 20)

static const struct wr_scale scales[] = {
    [WR_STUDY_DEFAULT] =
        {
            .mode = "default",
            .rounds = 6,
            .save_rounds = 6,
            .threads = {4, {1, 2, 4, 8}},
            .images = 2048,
            .batch = 64,
            .train_threads = {4, {1, 2, 4, 8}},
            .train_batch = 64,
            .train_iterations = 40,
            .accelerator = "K4000",
            .batches = {5, {8, 16, 32, 64, 128}},
            .batch_images = 1024,
            .save_every = 4,
            .saves = 5,
            .save_lanes = 1,
            .width = 1,
            .probe_bytes = 1024 * MIB,
            .probe_s = 2,
            .format_images = 256,
        },
    [WR_STUDY_QUICK] =
        {
            .mode = "quick",
            .rounds = 3,
            .save_rounds = 2,
            .threads = {4, {1, 2, 4, 8}},
            .images = 256,
            .batch = 64,
            .train_threads = {2, {1, 8}},
            .train_batch = 16,
            .train_iterations = 10,
            .accelerator = "ms=375",
            .batches = {3, {8, 32, 128}},
            .batch_images = 128,
            .save_every = 5,
            .saves = 2,
            .save_lanes = 3,
            .width = 1,
            .probe_bytes = 64 * MIB,
            .probe_s = 0.3,
            .format_images = 32,
        },
    [WR_STUDY_FULL] =
        {
            .mode = "full",
            .rounds = 6,
            .save_rounds = 6,
            .threads = {4, {1, 2, 4, 8}},
            .images = 16384,
            .batch = 64,
            .train_threads = {4, {1, 2, 4, 8}},
            .train_batch = 64,
            .train_iterations = 142,
            .accelerator = "K4000",
            .batches = {5, {8, 16, 32, 64, 128}},
            .batch_images = 9088,
            .save_every = 20,
            .saves = 5,
            .save_lanes = 1,
            .width = 1,
            .probe_bytes = 5120 * MIB,
            .probe_s = 60,
            .format_images = 1024,
        },
};

/* One more thing that is less, after a semicolon. */
__attribute__((format(printf, 2, 3))) static void add(struct wr_scale *s,
                                                      const char *fmt, ...)
{
    size_t at = strlen(s->note);
    va_list args;

    if (at)
        at += (size_t)snprintf(s->note + at, sizeof(s->note) - at, "; ");
    if (at >= sizeof(s->note))
        return;
    va_start(args, fmt);
    vsnprintf(s->note + at, sizeof(s->note) - at, fmt, args);
    va_end(args);
}

static double step_ms(const struct wr_scale *s)
{
    struct wr_accelerator a = {0};

    (void)wr_accelerator_parse(s->accelerator, &a, NULL); /* of the table */
    return wr_accelerator_step_ms(&a, s->train_batch);
}

static void note_training(struct wr_scale *s, const struct wr_scale *paper)
{
    if (s->train_batch != paper->train_batch)
        add(s, "batches of %u in %.0f ms instead of %u in %.0f ms",
            s->train_batch, step_ms(s), paper->train_batch, step_ms(paper));
    if (s->train_iterations < paper->train_iterations)
        add(s, "%u of %u iterations", s->train_iterations,
            paper->train_iterations);
    if (s->train_threads.count < paper->train_threads.count)
        add(s, "fewer numbers of threads in Fig. 6");
    if (s->saves < paper->saves || s->save_every < paper->save_every)
        add(s, "%u checkpoint%s (every %u iterations) instead of %u (every %u)",
            s->saves, s->saves == 1 ? "" : "s", s->save_every, paper->saves,
            paper->save_every);
    if (s->width < paper->width)
        add(s, "a network of width %g", s->width);
}

/* Made from the numbers, because each may be asked for. */
static void make_note(struct wr_scale *s)
{
    const struct wr_scale *paper = &scales[WR_STUDY_FULL];
    char a[32], b[32];

    if (s->images < paper->images)
        add(s, "%s of %s pictures", wr_format_count(a, sizeof(a), s->images),
            wr_format_count(b, sizeof(b), paper->images));
    note_training(s, paper);
    if (s->rounds < paper->rounds)
        add(s, "%u runs instead of %u (%u with checkpoints)", s->rounds,
            paper->rounds, s->save_rounds);
    if (s->probe_bytes < paper->probe_bytes)
        add(s, "a file of %s instead of %s",
            wr_format_bytes(a, sizeof(a), (double)s->probe_bytes),
            wr_format_bytes(b, sizeof(b), (double)paper->probe_bytes));
}

void wr_scale_of(enum wr_study_mode mode, const struct wr_scale_wish *wish,
                 struct wr_scale *ret)
{
    struct wr_scale s = scales[mode];

    if (wish->images && wish->images < s.images) {
        double part = (double)wish->images / (double)s.images;

        s.probe_bytes = WR_MAX((uint64_t)((double)s.probe_bytes * part),
                               4 * MIB) /
                        MIB * MIB;
        s.probe_s = WR_MAX(s.probe_s * part, 0.02);
    }
    if (wish->images) {
        s.images = wish->images;
        s.format_images = WR_MIN(s.format_images, wish->images);
        s.batch_images = (unsigned)WR_MIN(s.batch_images, wish->images);
    }
    if (wish->rounds)
        s.rounds = s.save_rounds = (unsigned)wish->rounds;
    if (wish->iterations) {
        s.train_iterations = (unsigned)wish->iterations;
        s.save_every = (unsigned)WR_MAX(wish->iterations / s.saves,
                                        UINT64_C(1));
    }
    if (wish->threads.count)
        s.threads = s.train_threads = wish->threads;
    if (wish->width > 0)
        s.width = wish->width;
    /* At least four batches, as far as there are so many pictures. */
    s.batch = (unsigned)WR_MAX(WR_MIN(s.batch, s.images / 4), UINT64_C(1));
    make_note(&s);
    *ret = s;
}
