/* canceled.h - a data set whose indexing the user ends at once.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_FORMAT_CANCELED_H
#define TEST_FORMAT_CANCELED_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "weir/dataset.h"

static inline int refuse(void *arg, uint64_t samples)
{
    (void)arg;
    (void)samples;
    return 1;
}

static inline void check_canceled(const char *path)
{
    weir_dataset_config cfg;
    weir_dataset *ds = NULL;
    weir_err err;

    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    cfg.progress = refuse;
    assert_int_equal(weir_dataset_open(&ds, path, &cfg, &err), WEIR_ECANCELED);
    assert_int_equal(err.code, WEIR_ECANCELED);
    assert_null(ds);
}

#endif
