/* check.c - what all checks use: saying what was found, and where they look.
 * SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "base/procfs.h"

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
