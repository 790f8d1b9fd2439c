/* golden_cases.h - the configurations of the golden test, as text.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_GOLDEN_CASES_H
#define TEST_GOLDEN_CASES_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/weir.h"

struct gc_case {
    const char *name, *set;
    const char *settings; /* "order=block batch=7"; see golden_cases.c */
};

/* NULL past the last. */
const struct gc_case *gc_at(unsigned k);

/* What is not a setting of a pipeline. */
struct gc_way {
    char cache[16]; /* "ram", "dir", "both", "small"; "" none */
    uint32_t after; /* batches of each rank before it is resumed; 0: never */
    uint32_t from;  /* ranks before it is resumed */
    bool again;     /* run a second time, with what the first one cached */
    bool index;     /* the index comes from a file */
    bool harm;      /* files go and grow once it is open */
};

/* Defaults, then the settings; aborts on one that is unknown. */
void gc_config(const struct gc_case *c, weir_pipeline_config *cfg,
               struct gc_way *way);

#endif
