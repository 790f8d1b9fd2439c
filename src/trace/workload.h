/* workload.h - a traced training as a description for weir run.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_WORKLOAD_H
#define WR_TRACE_WORKLOAD_H

#include "trace/analysis.h"
#include "workload/workload.h"

/* What a description needs, found in a trace. */
struct wr_traced_set {
    enum wr_wl_format format;
    bool format_known;          /* by the endings of the files */
    uint64_t files, files_eval; /* of the data set */
    double file_bytes, stdev;   /* of one file */
    uint64_t samples_per_file;  /* 1 unless records are seen */
    double passes;              /* files that were read, counting again */
    uint64_t files_in_batch;    /* median between long pauses; 0: not seen */
    double pause_s;             /* median of those pauses */
    bool shuffled_files, shuffled_samples;
};

struct wr_traced_run {
    struct wr_traced_set set;
    uint64_t batch;
    bool batch_known;
    uint64_t readers; /* per main process */
    uint64_t epochs;
    double step_s, decode_s; /* computing per batch; pause after a sample */
    bool step_at_most;       /* reading is part of it */
    uint64_t saves, save_bytes, steps_between, epochs_between;
    bool save_syncs;
};

/* WEIR_EINVAL: it reads no data set. */
int wr_traced_run_of(const struct wr_trace_analysis *a, struct wr_trace_file *f,
                     struct wr_traced_run *ret, weir_err *err);

/* The format that a file's ending says; false: none that is known. */
bool wr_traced_format(const char *path, enum wr_wl_format *ret);

/* The description as YAML, checked by parsing it; fresh memory. `trace` is the
 * name of the file, for its head. */
int wr_traced_workload(struct wr_trace_file *f, const char *trace, char **ret,
                       weir_err *err);

#endif
