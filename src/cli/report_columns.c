/* report_columns.c - what the columns of a report's tables mean, for its help.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/report_columns.h"

#include "record/bench_tables.h"
#include "record/probe_tables.h"
#include "record/train_words.h"
#include "record/view_ckpt.h"

static const struct wr_column saves[] = {
    {"stall s", "how long training stands still", '>', 0},
    {"for earlier saves s", "of that: waiting for saves before it", '>', 0},
    {"fast s", "from the beginning of the save until it is on the fast tier",
     '>', 0},
    {"slow s", "until it is on the slow tier", '>', 0},
    {"verified s", "until it was read back and compared", '>', 0},
    {NULL, NULL, 0, 0}};

static const struct wr_column compared[] = {
    {"what", "case or test, as far as it differs from others", '<', 0},
    {"metric", "which number of it", '<', 0},
    {"B/A", "ratio of the medians", '>', 0},
    {"from", "lower end of the middle 90 % of the ratios of single runs", '>',
     0},
    {"to", "upper end of them", '>', 0},
    {"A", "median of the first record", '>', 0},
    {"B", "median of the second record", '>', 0},
    {"runs", "counted runs of each", '>', 0},
    {"p", "of the rank test: how often chance alone does this", '>', 0},
    {NULL, NULL, 0, 0}};

static const struct wr_column machine[] = {
    {"reads/s", "and writes/s: requests that the disk completed", '>', 0},
    {"queue", "requests in flight at the disk, mean", '>', 0},
    {"busy %", "part of the time with a request in flight", '>', 0},
    {"process cores", "cores that this process used, mean", '>', 0},
    {"machine cores", "cores that all processes used", '>', 0},
    {"waiting cores", "cores idle while a request was in flight", '>', 0},
    {"faults/s", "page faults that read from storage", '>', 0},
    {"watching CPU s", "CPU time that the watching itself took", '>', 0},
    {NULL, NULL, 0, 0}};

const struct wr_columns wr_report_columns[] = {
    {"cases of a benchmark", wr_bench_case_columns},
    {"runs of a benchmark", wr_bench_run_columns},
    {"ranks of a benchmark", wr_bench_rank_columns},
    {"tests of a probe", wr_probe_test_columns},
    {"passes of a probe", wr_probe_pass_columns},
    {"saturation of a probe", wr_probe_depth_columns},
    {"a run of training", wr_train_run_columns},
    {"ways of saving", wr_ckpt_case_columns},
    {"saves of a run of training", saves},
    {"B against A", compared},
    {"disks and the machine", machine},
    {NULL, NULL}};
