/* set_job.c - what a generated data set was made from, in a file within it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/set_job.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"

#define JOB_MAX ((size_t)1 << 20)
#define FIRST   "# weir gen, version "
#define SECOND  "# seed "

int wr_gen_job_text(const struct wr_workload *w, uint64_t seed, char **ret,
                    weir_err *err)
{
    char *yaml = wr_workload_yaml(w);
    int n = yaml ? asprintf(ret, FIRST "%u\n" SECOND "%" PRIu64 "\n%s",
                            WR_GEN_JOB_VERSION, seed, yaml)
                 : -1;

    free(yaml);
    return n < 0 ? wr_fail(err, WEIR_ENOMEM, "out of memory") : 0;
}

/* "PREFIX number\n" at *at, which moves on. */
static bool take_line(const char **at, const char *end, const char *prefix,
                      uint64_t *ret)
{
    size_t len = strlen(prefix);
    const char *p = *at;

    if ((size_t)(end - p) < len || memcmp(p, prefix, len))
        return false;
    p += len;
    if (!wr_take_digits(&p, end, ret) || p == end || *p != '\n')
        return false;
    *at = p + 1;
    return true;
}

int wr_gen_job_parse(const char *name, const char *text, size_t len,
                     struct wr_workload **ret, uint64_t *ret_seed,
                     weir_err *err)
{
    const char *at = text, *end = text + len;
    uint64_t version, seed;
    int r;

    if (!take_line(&at, end, FIRST, &version) ||
        !take_line(&at, end, SECOND, &seed))
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': is not what weir gen writes: version and seed "
                       "are missing",
                       name);
    if (version != WR_GEN_JOB_VERSION)
        return wr_fail(err, WEIR_ENOTSUP,
                       "'%s': made by version %" PRIu64
                       " of the generator, this one is version %u",
                       name, version, WR_GEN_JOB_VERSION);
    r = wr_workload_parse(name, text, len, NULL, 0, NULL, NULL, ret, err);
    if (r == 0)
        *ret_seed = seed;
    return r;
}

int wr_gen_job_load(struct wr_store *st, const char *path, char **ret,
                    size_t *ret_len, weir_err *err)
{
    char full[PATH_MAX];
    int n = snprintf(full, sizeof(full), "%s%s%s", path, *path ? "/" : "",
                     WR_GEN_JOB_FILE);

    if (n < 0 || n >= (int)sizeof(full))
        return wr_fail(err, WEIR_ELIMIT, "'%s': path too long", path);
    return wr_store_slurp(st, full, JOB_MAX, ret, ret_len, err);
}
