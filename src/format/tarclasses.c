/* tarclasses.c - folders of keys as classes of samples.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/tarclasses.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "format/intern.h"

static size_t folder_len(const char *key)
{
    const char *slash = strchr(key, '/');

    return slash ? (size_t)(slash - key) : 0;
}

/* The number of the first folder of sample i's key among `names`;
 * WEIR_NO_LABEL: it has none. */
static int64_t folder_of(const struct wr_index *ix, uint64_t i,
                         struct wr_intern *names, weir_err *err)
{
    const char *key = wr_index_sample_name(ix, i);
    size_t len = folder_len(key);
    int64_t k = len ? wr_intern_add(names, key, len) : WEIR_NO_LABEL;

    return k < 0
               ? wr_fail(err, (int)k, "cannot keep the class of '%.200s'", key)
               : k;
}

/* Progress now and then, while sample i is looked at. */
static int tick(struct wr_index_job *job, uint64_t i, weir_err *err)
{
    return i % 4096 ? 0 : wr_index_job_progress(job, err);
}

static int find_folders(struct wr_index_job *job, struct wr_intern *names,
                        weir_err *err)
{
    int r = 0;

    for (uint64_t i = 0; i < wr_index_count(job->index) && r == 0; i++) {
        int64_t k = folder_of(job->index, i, names, err);

        r = k < 0 ? (int)k : tick(job, i, err);
    }
    return r;
}

static int set_labels(struct wr_index_job *job, struct wr_intern *names,
                      const uint32_t *rank, weir_err *err)
{
    int r = 0;

    for (uint64_t i = 0; i < wr_index_count(job->index) && r == 0; i++) {
        int64_t k = folder_of(job->index, i, names, err); /* a known one */

        if (k >= 0 && k != WEIR_NO_LABEL)
            wr_index_set_label(job->index, i, rank[k]);
        r = k < 0 ? (int)k : tick(job, i, err);
    }
    return r;
}

int wr_tar_classify(struct wr_index_job *job, weir_err *err)
{
    struct wr_intern names = {0};
    uint32_t *rank = NULL;
    int r;

    if (wr_index_class_count(job->index))
        return 0;
    r = find_folders(job, &names, err);
    if (r == 0 && names.count)
        r = wr_index_add_classes(job->index, &names, &rank, err);
    if (r == 0 && names.count)
        r = set_labels(job, &names, rank, err);
    wr_intern_done(&names);
    free(rank);
    return r;
}
