/* described.h - small descriptions for tests.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TEST_DESCRIBED_H
#define WR_TEST_DESCRIBED_H

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "workload/workload.h"

#define DESCRIBED_MAX 8

/* A data set of 5 + 2 files of 3 samples of 20x20 bytes; `changes` are
 * "section.key=value", NULL after the last. */
static inline struct wr_workload *described(const char *format,
                                            const char *const *changes)
{
    static const char head[] = "dataset:\n"
                               "  num_files_train: 5\n"
                               "  num_files_eval: 2\n"
                               "  num_samples_per_file: 3\n"
                               "  record_length_bytes: 400\n"
                               "  data_folder: data\n";
    const char *all[DESCRIBED_MAX];
    char text[512], first[64];
    struct wr_workload *w = NULL;
    size_t n = 1;
    weir_err err = {0};

    snprintf(text, sizeof(text), "%s", head);
    snprintf(first, sizeof(first), "dataset.format=%s", format);
    all[0] = first;
    for (; changes && *changes && n < DESCRIBED_MAX; changes++)
        all[n++] = *changes;
    if (wr_workload_parse("test", text, strlen(text), all, n, NULL, NULL, &w,
                          &err) < 0)
        print_error("%s\n", err.msg);
    return w;
}

#endif
