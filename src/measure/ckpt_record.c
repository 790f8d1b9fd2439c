/* ckpt_record.c - the record of a benchmark of checkpoints.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/ckpt_record.h"

#include "measure/parts.h"
#include "result/record.h"

json_t *wr_ckpt_record(const struct wr_ckpt_record *b)
{
    const struct wr_ckpt_load *load = b->plan->load;
    json_t *record = wr_record_new("ckpt");
    struct wr_ckpt_head_values v = {
        .fast = b->plan->fast,
        .slow = b->plan->slow,
        .like = b->like,
        .bytes = b->report->count ? b->report->cases->v.result.bytes
                                  : (double)load->bytes,
        .tensors = (double)load->count,
        .saves = (double)b->plan->saves,
        .interval_s = b->plan->interval_s,
        .verify = b->plan->verify,
        .memcpy_s = b->report->memcpy_s,
        .cases = json_array()};
    int bad = 0;

    for (size_t i = 0; i < b->report->count; i++)
        bad |= json_array_append_new(
            v.cases, wr_vals_json(&wr_ckpt_case_vals, &b->report->cases[i].v,
                                  WR_FOR_RECORD));
    bad |= json_object_set_new(record, "host", wr_host_json_of(b->store));
    bad |= json_object_update_new(
        record, wr_vals_give(&wr_ckpt_head_vals, &v, /* whole= */ true));
    bad |= wr_monitor_record(b->monitor, record);
    if (!bad)
        return record;
    json_decref(record);
    return NULL;
}
