/* report_columns.c - what the columns of a report's tables mean, for its help.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/report_columns.h"

#include "record/bench_tables.h"
#include "record/ckpt.h"
#include "record/compare.h"
#include "record/probe_tables.h"
#include "record/train_words.h"
#include "record/view_monitor.h"

static const struct wr_column saves[] = {
    {.head = "stall s", .help = "how long training stands still", .side = '>'},
    {.head = "for earlier saves s",
     .help = "of that: waiting for saves before it",
     .side = '>'},
    {.head = "fast s",
     .help = "from the beginning of the save until it is on the fast tier",
     .side = '>'},
    {.head = "slow s", .help = "until it is on the slow tier", .side = '>'},
    {.head = "verified s",
     .help = "until it was read back and compared",
     .side = '>'},
    {.head = NULL}};

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
    {"B against A", wr_compare_columns},
    {"disks and the machine", wr_monitor_columns},
    {NULL, NULL}};
