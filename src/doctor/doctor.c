/* doctor.c - the table of checks, and one round through it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "doctor/doctor.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "doctor/check.h"

static const struct wr_check checks[] = {
#define ENTRY(name, essential, per_path, run) {name, essential, per_path, run},
    WR_CHECK_MAP(ENTRY)
#undef ENTRY
};

const char *wr_health_name(enum wr_health health)
{
    static const char *const names[] = {[WR_HEALTH_OK] = "ok",
                                        [WR_HEALTH_LIMITED] = "limited",
                                        [WR_HEALTH_MISSING] = "missing"};

    return names[health];
}

static void examine(const struct wr_doctor *d, const struct wr_check *c,
                    const char *path, struct wr_finding *f)
{
    f->check = c->name;
    f->essential = c->essential;
    snprintf(f->path, sizeof(f->path), "%s", path);
    c->run(d, f);
}

/* How many findings there are. What is not there is not examined further. */
static size_t examine_path(const struct wr_doctor *d, const char *path,
                           struct wr_finding *list)
{
    size_t n = 0;

    for (size_t k = 0; k < WR_ARRAY_LEN(checks); k++) {
        if (!checks[k].per_path)
            continue;
        examine(d, &checks[k], path, &list[n++]);
        if (list[n - 1].essential && list[n - 1].health == WR_HEALTH_MISSING)
            break;
    }
    return n;
}

int wr_doctor_examine(const struct wr_doctor *d, struct wr_finding **ret,
                      size_t *ret_count, weir_err *err)
{
    size_t most = WR_ARRAY_LEN(checks) * (1 + d->path_count), n = 0;
    struct wr_finding *list = calloc(most, sizeof(*list));

    if (!list)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < WR_ARRAY_LEN(checks); k++)
        if (!checks[k].per_path)
            examine(d, &checks[k], "", &list[n++]);
    for (size_t p = 0; p < d->path_count; p++)
        n += examine_path(d, d->paths[p], list + n);
    *ret = list;
    *ret_count = n;
    return 0;
}
