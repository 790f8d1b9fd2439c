/* doctor.c - the table of checks, and one round through it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "doctor/doctor.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/procfs.h"
#include "doctor/check.h"

void wr_observed(struct wr_finding *f, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(f->found, sizeof(f->found), fmt, ap);
    va_end(ap);
}

void wr_means(struct wr_finding *f, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(f->means, sizeof(f->means), fmt, ap);
    va_end(ap);
}

void wr_remedy(struct wr_finding *f, enum wr_health health, const char *fmt,
               ...)
{
    va_list ap;

    f->health = health;
    va_start(ap, fmt);
    vsnprintf(f->remedy, sizeof(f->remedy), fmt, ap);
    va_end(ap);
}

const char *wr_doctor_path(const struct wr_doctor *d, const char *path,
                           char *buf, size_t cap)
{
    snprintf(buf, cap, "%s%s", d->root, path);
    return buf;
}

int wr_doctor_read(const struct wr_doctor *d, const char *path, char *buf,
                   size_t cap)
{
    char full[PATH_MAX];

    return wr_procfs_read_path(wr_doctor_path(d, path, full, sizeof(full)), buf,
                               cap);
}

unsigned long long wr_doctor_status(const struct wr_doctor *d,
                                    const char *field)
{
    uint64_t value = 0;
    const struct wr_procfs_field want = {field, 1, &value};
    char text[8192];

    if (wr_doctor_read(d, "/proc/self/status", text, sizeof(text)) < 0)
        return 0;
    wr_procfs_fields(text, &want, 1);
    return value;
}

unsigned wr_doctor_kernel(const struct wr_doctor *d)
{
    unsigned major = 0, minor = 0;
    char text[256];

    if (wr_doctor_read(d, "/proc/sys/kernel/osrelease", text, sizeof(text)) <
            0 ||
        sscanf(text, "%3u.%2u", &major, &minor) != 2)
        return 0;
    return 100 * major + minor;
}

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
