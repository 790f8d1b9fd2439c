/* bench_args.c - the settings of `weir bench`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench_args.h"

#include "cli/feed_args.h"

#define A struct bench_args
const struct wr_option wr_bench_options[] = {
    {WR_FEED_OWN(stages, ",..."), WR_OPT_ENUM_LIST(A, stages),
     WR_FEED_RANGE(stages), WR_FEED_DEF(stages), .group = "What to measure",
     WR_FEED_HELP(stages)},
    {WR_OPT_ENUM_LIST(A, page_cache), .name = "page-cache", .arg = "STATE,...",
     .choices = wr_cache_state_choices, .def = "warm",
     .help = "state of the page cache before every run"},
    {WR_FEED_OWN(threads, ",..."), .letter = 't', WR_OPT_UINT_LIST(A, threads),
     .min = 1, .max = 1024, .choices = wr_auto_choices, WR_FEED_NOTE(threads),
     .help = "workers; a list is swept"},
    {WR_FEED_OWN(depth, ",..."), .letter = 'd', WR_OPT_UINT_LIST(A, depth),
     WR_FEED_RANGE(depth), WR_FEED_DEF(depth), WR_FEED_HELP(depth)},
    {WR_FEED_OWN(prefetch, ",..."), .letter = 'p',
     WR_OPT_UINT_LIST(A, prefetch), WR_FEED_RANGE(prefetch),
     WR_FEED_DEF(prefetch), WR_FEED_HELP(prefetch)},
    {WR_FEED_OWN(batch, ",..."), .letter = 'b', WR_OPT_UINT_LIST(A, batch),
     WR_FEED_RANGE(batch), WR_FEED_DEF(batch), WR_FEED_HELP(batch)},
    {WR_FEED_NAME(A, max_batches), .def_note = "one epoch",
     .help = "stop each run after this many batches"},
    {WR_FEED_NAME(A, epochs), .min = 1, WR_FEED_DEF(epochs),
     .help = "epochs per run"},
    {WR_OPT_UINT(A, repeat), .name = "repeat", .letter = 'r', .arg = "N",
     .min = 2, .max = 1000, .def = "6",
     .help = "rounds; the first is a warm-up and not counted"},
    {WR_OPT_STRING(A, accelerator), .name = "accelerator", .arg = "NAME",
     .def = "none",
     .help = "what works on each batch, emulated: " WR_HELP_ACCELERATORS
             "; none: batches are taken as they come"},
    {WR_OPT_DOUBLE(A, consumer_ms), .name = "consumer-ms", .arg = "MS",
     .max = 1e6, .def = "0", .flags = WR_OPTION_HIDDEN,
     .help = "the old name of --accelerator ms=MS"},
    {WR_OPT_FLAG(A, limits), .name = "limits", .def = "yes",
     .help = "do not measure the limits of decoding alone and reading alone"},

    {WR_FEED(A, size), .group = "Output"},
    {WR_FEED(A, channels)},
    {WR_FEED(A, dtype)},
    {WR_FEED(A, layout)},
    WR_NORMALIZE_OPTION(A),
    {WR_FEED(A, resize)},
    {WR_FEED_OWN(decode, ",..."), WR_OPT_ENUM_LIST(A, decode),
     WR_FEED_RANGE(decode), WR_FEED_DEF(decode), WR_FEED_HELP(decode)},
    {WR_FEED(A, orient)},
    {WR_FEED(A, crop)},
    {WR_FEED(A, crop_area)},
    {WR_FEED(A, crop_ratio)},
    {WR_FEED(A, crop_center)},
    {WR_FEED_NAME(A, flip), WR_FEED_HELP(flip)},

    {WR_FEED(A, order), .group = "Which samples, and in which order"},
    {WR_FEED(A, seed)},
    {WR_FEED_NAME(A, block_samples), .max = 1e9, WR_FEED_DEF(block_samples),
     WR_FEED_HELP(block_samples)},
    {WR_FEED_NAME(A, block_window), .min = 1, .max = 1e6,
     WR_FEED_DEF(block_window), WR_FEED_HELP(block_window)},
    {WR_FEED_NAME(A, rank), .max = 1e9, WR_FEED_DEF(rank), WR_FEED_HELP(rank)},
    {WR_FEED_NAME(A, world), .min = 1, .max = 1e9, WR_FEED_DEF(world),
     WR_FEED_HELP(world)},
    {WR_FEED(A, holdout)},
    {WR_FEED(A, split_seed)},
    {WR_FEED(A, part)},
    {WR_FEED(A, fields)},
    {WR_FEED(A, remainder)},
    {WR_FEED(A, on_error)},

    {WR_FEED(A, cache), .group = "Where to read from"},
    {WR_FEED(A, cache_what)},
    {WR_FEED(A, memory)},

    {WR_FEED(A, io), .group = "How to read"},
    {WR_FEED_NAME(A, direct), WR_FEED_HELP(direct)},
    WR_OPEN_OPTIONS(A, "the data set"),

    {WR_OPT_FLAG(A, digest), .name = "digest", .group = "Results",
     .help = "print a digest of everything delivered (takes some time)"},
    {WR_OPT_OUTPUT(A, csv), .name = "csv",
     .help = "write the time of every batch"},
    {WR_OPT_RECORD(A), .help = "write the run record (JSON)"},
    {WR_OPT_FLAG(A, json), .name = "json",
     .help = "print the run record instead of the table"},
    WR_MONITOR_OPTION(A),
    {WR_OPT_DOUBLE(A, min_rate), .name = "min-rate", .arg = "N", .def = "0",
     .help = "exit with 3 if a case delivers fewer samples per second"},
    {WR_OPT_DOUBLE(A, min_of_decode), .name = "min-of-decode", .arg = "R",
     .def = "0", .help = "exit with 3 below this fraction of the decode limit"},
    {WR_OPT_DOUBLE(A, min_of_read), .name = "min-of-read", .arg = "R",
     .def = "0", .help = "exit with 3 below this fraction of the read limit"},
    WR_OPTIONS_END};
#undef A

void wr_bench_defaults(void *args)
{
    weir_pipeline_defaults(&((struct bench_args *)args)->feed);
}
