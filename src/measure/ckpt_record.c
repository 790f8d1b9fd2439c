/* ckpt_record.c - the record of a benchmark of checkpoints.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/ckpt_record.h"

#include "measure/parts.h"
#include "result/record.h"

json_t *wr_ckpt_record(const struct wr_ckpt_record *b)
{
    const struct wr_ckpt_load *load = b->plan->load;
    json_t *record = wr_record_new("ckpt"), *cases = json_array();
    int bad = 0;

    for (size_t i = 0; i < b->report->count; i++)
        bad |= json_array_append_new(cases, wr_vals_json(&wr_ckpt_case_vals,
                                                         &b->report->cases[i].v,
                                                         WR_FOR_RECORD));
    bad |= json_object_set_new(record, "host", wr_host_json_of(b->store));
    bad |= json_object_update_new(
        record,
        json_pack(
            "{s:o, s:o, s:o, s:I, s:I, s:I, s:f, s:b, s:f}", "fast",
            wr_text_json(b->plan->fast), "slow", wr_text_json(b->plan->slow),
            "like", wr_text_json(b->like), "bytes",
            b->report->count ? (json_int_t)b->report->cases->v.result.bytes
                             : (json_int_t)load->bytes,
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
