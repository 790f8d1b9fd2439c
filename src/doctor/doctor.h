/* doctor.h - what of this machine weir can use, and what to do about the rest.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A check is one function and one line in the table of doctor.c. It looks at one
 * thing, tries it where trying is harmless, and says what was found, what that
 * means for weir, and the command that mends it. No check fails: what cannot be
 * looked at is a finding too. */
#ifndef WR_DOCTOR_DOCTOR_H
#define WR_DOCTOR_DOCTOR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "weir/error.h"

enum wr_health {
    WR_HEALTH_OK,
    WR_HEALTH_LIMITED, /* it is there, with less than weir could use */
    WR_HEALTH_MISSING, /* it is not there; weir does without, unless it is
                          essential */
};

struct wr_finding {
    const char *check; /* name in the table; static */
    bool essential;    /* without it weir cannot feed */
    enum wr_health health;
    char path[PATH_MAX]; /* that it is about; "" for the machine */
    char found[256];     /* "2 of 8 cores" */
    char means[512];     /* for weir; one or two sentences */
    char remedy[256];    /* a command; "" when there is none */
};

/* What is examined. */
struct wr_doctor {
    const char *root; /* borrowed: stands in front of /proc, /sys and /dev, for
                         tests; "" usually */
    char *const *paths; /* borrowed: files or folders; those of data sets */
    size_t path_count;
};

/* Makes every check, those of paths once per path. *ret has *ret_count entries
 * in the order of the table, and is freed with free(). Fails only when memory
 * runs out. */
int wr_doctor_examine(const struct wr_doctor *d, struct wr_finding **ret,
                      size_t *ret_count, weir_err *err);

/* "ok", "limited", "missing". */
const char *wr_health_name(enum wr_health health);

#endif
