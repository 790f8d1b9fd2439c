/* ckpt_record.c - the record of a benchmark of checkpoints.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/ckpt_record.h"

#include "measure/ckpt_ranks.h"
#include "measure/parts.h"
#include "result/record.h"

static json_t *save_json(const struct wr_ckpt_bench_save *s)
{
    json_t *j = json_object();

    wr_put_real(j, "stall_s", s->stall);
    wr_put_real(j, "blocked_s", s->blocked);
    wr_put_real(j, "fast_s", s->fast);
    wr_put_real(j, "slow_s", s->slow);
    wr_put_real(j, "verified_s", s->verified);
    wr_put_real(j, "drain_s", s->drain);
    return j;
}

/* Bytes of a step: of all ranks. */
static uint64_t step_bytes(const struct wr_ckpt_bench_plan *plan,
                           const struct wr_ckpt_bench_case *k)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < k->rank_count; i++)
        sum += k->ranks[i].bytes;
    return k->rank_count ? sum : plan->load->bytes;
}

static json_t *ranks_json(const struct wr_ckpt_bench_case *k)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < k->rank_count; i++)
        json_array_append_new(list,
                              json_pack("{s:I, s:s, s:f, s:I}", "rank",
                                        (json_int_t)i, "host", k->ranks[i].host,
                                        "stall_s", k->ranks[i].stall, "bytes",
                                        (json_int_t)k->ranks[i].bytes));
    return list;
}

static json_t *case_json(const struct wr_ckpt_record *b,
                         const struct wr_ckpt_bench_case *k)
{
    static const char *const keys[] = {"slow", "fast", "burst", "async"};
    json_t *runs = json_array(), *result = save_json(&k->median), *to;
    double bytes = (double)step_bytes(b->plan, k);

    for (unsigned i = 0; i < k->count; i++) {
        json_t *run = save_json(&k->saves[i]);

        wr_put_real(run, "saves_per_s", 1 / k->saves[i].stall);
        wr_put_real(run, "at_s", k->saves[i].at_s);
        json_array_append_new(runs, run);
    }
    wr_put_real(result, "restore_s", k->restore);
    wr_put_real(result, "stall_bytes_per_s", bytes / k->median.stall);
    wr_put_real(result, "drain_bytes_per_s", bytes / k->median.drain);
    wr_put_real(result, "restore_bytes_per_s", bytes / k->restore);
    to = json_pack("{s:s, s:s, s:I, s:I, s:o, s:o}", "way", keys[k->way],
                   "name", wr_ckpt_way_name(k->way), "memory",
                   (json_int_t)k->memory, "skipped", (json_int_t)k->skipped,
                   "result", result, "runs", runs);
    if (to && k->rank_count)
        json_object_set_new(to, "ranks", ranks_json(k));
    return to;
}

json_t *wr_ckpt_record(const struct wr_ckpt_record *b)
{
    const struct wr_ckpt_load *load = b->plan->load;
    json_t *record = wr_record_new("ckpt"), *cases = json_array();
    int bad = 0;

    for (size_t i = 0; i < b->report->count; i++)
        bad |= json_array_append_new(cases, case_json(b, &b->report->cases[i]));
    bad |= json_object_set_new(record, "host", wr_host_json_of(b->store));
    bad |= json_object_update_new(
        record,
        json_pack(
            "{s:o, s:o, s:o, s:I, s:I, s:I, s:f, s:b, s:f}", "fast",
            wr_text_json(b->plan->fast), "slow", wr_text_json(b->plan->slow),
            "like", wr_text_json(b->like), "bytes",
            (json_int_t)(b->report->count
                             ? step_bytes(b->plan, b->report->cases)
                             : load->bytes),
            "tensors", (json_int_t)load->count, "saves",
            (json_int_t)b->plan->saves, "interval_s", b->plan->interval_s,
            "verify", (int)b->plan->verify, "memcpy_s", b->report->memcpy_s));
    bad |= json_object_set_new(record, "cases", cases);
    bad |= wr_monitor_record(b->monitor, record);
    if (!bad)
        return record;
    json_decref(record);
    return NULL;
}
