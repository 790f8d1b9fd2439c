/* script.c - a made-up training: epochs of batches, with or without workers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "script.h"

#include <stdlib.h>

#define PREFETCH 2 /* batches per worker */

/* One sample: open, reads, close, decoding. */
static uint64_t sample(struct maker *m, const struct script *s, uint32_t who,
                       uint32_t file, uint64_t at)
{
    unsigned n = s->reads ? s->reads : 1;

    if (n == 1)
        return maker_whole(m, who, file, s->size, at, s->read_ns) +
               s->decode_ns;
    maker_event(m, (struct wr_trace_event){.op = WR_TRACE_OPEN,
                                           .process = who,
                                           .file = file,
                                           .offset = UINT64_MAX,
                                           .start_ns = at,
                                           .dur_ns = 5000});
    at += 5000;
    for (unsigned k = 0; k < n; k++, at += s->read_ns)
        maker_event(m, (struct wr_trace_event){.op = WR_TRACE_READ,
                                               .process = who,
                                               .file = file,
                                               .offset = s->size / n * k,
                                               .bytes = s->size / n,
                                               .start_ns = at,
                                               .dur_ns = s->read_ns});
    maker_event(m, (struct wr_trace_event){.op = WR_TRACE_CLOSE,
                                           .process = who,
                                           .file = file,
                                           .offset = UINT64_MAX,
                                           .start_ns = at,
                                           .dur_ns = 1000});
    return at + 1000 + s->decode_ns;
}

/* One epoch of one rank; returns its end. `who` are its workers, or the main
 * process alone. */
static uint64_t epoch(struct maker *m, const struct script *s,
                      const struct script_end *e, const uint32_t *who,
                      unsigned rank, unsigned number, uint64_t at)
{
    unsigned ranks = s->ranks && !s->same ? s->ranks : 1;
    unsigned mine = s->files / ranks, lanes = s->workers ? s->workers : 1;
    unsigned batches = (mine + s->batch - 1) / s->batch;
    uint64_t *ready = calloc(lanes, sizeof(*ready));
    uint64_t *used = calloc(batches + 1, sizeof(*used)), now = at;

    for (unsigned w = 0; w < lanes; w++)
        ready[w] = at;
    for (unsigned b = 0; b < batches; b++) {
        unsigned w = b % lanes;

        if (s->workers && b >= lanes * PREFETCH &&
            used[b - lanes * PREFETCH] > ready[w])
            ready[w] = used[b - lanes * PREFETCH];
        for (unsigned k = b * s->batch; k < (b + 1) * s->batch && k < mine;
             k++) {
            unsigned shuffled = (k * 7919u + number * 31u) % mine;

            ready[w] = sample(m, s, who[w],
                              e->first_file + shuffled * ranks +
                                  (ranks > 1 ? rank : 0),
                              ready[w]);
        }
        now = (now > ready[w] ? now : ready[w]) + s->compute_ns;
        used[b] = now;
        if (!s->workers)
            ready[0] = now;
    }
    free(ready);
    free(used);
    return now;
}

static void set_rank(struct maker *m, const struct script *s, uint32_t who,
                     unsigned rank)
{
    m->processes[who].rank = s->ranks ? (int)rank : -1;
    m->processes[who].world = s->ranks ? (int)s->ranks : -1;
}

static uint64_t run_rank(struct maker *m, const struct script *s,
                         struct script_end *e, unsigned rank)
{
    uint32_t who[32];
    uint64_t at = s->start_ns;

    e->main = maker_process(m, (int)s->parent - 1, 0, 0);
    set_rank(m, s, e->main, rank);
    who[0] = e->main;
    for (unsigned n = 0; n < s->epochs; n++) {
        if (s->workers && (s->respawn || n == 0)) {
            for (unsigned w = 0; w < s->workers; w++) {
                who[w] = maker_process(m, (int)e->main, 0, 0);
                set_rank(m, s, who[w], rank);
                m->processes[who[w]].start_ns = at;
            }
            at += s->spawn_ns;
        }
        at = epoch(m, s, e, who, rank, n, at);
        for (unsigned w = 0; w < s->workers; w++) {
            m->processes[who[w]].end_ns = at;
            maker_again(m, who[w]);
        }
    }
    m->processes[e->main].end_ns = at;
    maker_again(m, e->main);
    return at;
}

struct script_end script_run(struct maker *m, const struct script *s)
{
    const char *folder = s->folder ? s->folder : "/data/train";
    struct script_end e = {.first_file = m->name_count};

    for (unsigned k = 0; k < s->files; k++)
        maker_name(m, s->size, "%s/%05u.jpg", folder, k);
    for (unsigned r = 0; r < (s->ranks ? s->ranks : 1); r++) {
        uint64_t end = run_rank(m, s, &e, r);

        e.end_ns = end > e.end_ns ? end : e.end_ns;
    }
    return e;
}
