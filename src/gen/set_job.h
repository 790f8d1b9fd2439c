/* set_job.h - what a generated data set was made from, in a file within it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The file is the description as YAML, with two comments in front of it that
 * say the version of the generator and the seed. It is written first, tells a
 * run that continues what it continues, and later anyone what the bytes must
 * be. */
#ifndef WR_GEN_SET_JOB_H
#define WR_GEN_SET_JOB_H

#include "storage/storage.h"
#include "workload/workload.h"

#define WR_GEN_JOB_FILE    ".weir-gen.yaml"
#define WR_GEN_JOB_VERSION 1u /* of the bytes: others make other bytes */

/* The text of the file; fresh memory. */
int wr_gen_job_text(const struct wr_workload *w, uint64_t seed, char **ret,
                    weir_err *err);

/* Reads what wr_gen_job_text made; `name` is for messages. The workload is to be
 * freed with wr_workload_free. */
int wr_gen_job_parse(const char *name, const char *text, size_t len,
                     struct wr_workload **ret, uint64_t *ret_seed,
                     weir_err *err);

/* The job file in folder `path` of the store ("" for the store itself).
 * WEIR_ENOENT: there is none. */
int wr_gen_job_load(struct wr_store *st, const char *path, char **ret,
                    size_t *ret_len, weir_err *err);

#endif
