/* cgroup.c - how much of the machine this process's control group allows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/cgroup.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/procfs.h"
#include "base/units.h"

#define NO_LIMIT (UINT64_C(1) << 60) /* version 1 says 2^63 less a page */

/* Digits up to `end`; NULL when there are none, too many, or another end. */
static const char *digits(const char *s, char end, uint64_t *ret)
{
    return wr_take_digits(&s, NULL, ret) && *s == end ? s + 1 : NULL;
}

bool wr_cgroup_number(const char *text, uint64_t *ret)
{
    uint64_t v;

    if (!digits(text, '\n', &v) || v >= NO_LIMIT)
        return false;
    *ret = v;
    return true;
}

bool wr_cgroup_cpu_max(const char *text, double *ret_cores)
{
    uint64_t quota, period;
    const char *rest = digits(text, ' ', &quota);

    if (!rest || !digits(rest, '\n', &period) || !quota || !period)
        return false;
    *ret_cores = (double)quota / (double)period;
    return true;
}

/* Is `name` one of the words of a list that has commas between and `len` bytes?
 * The list of version 2 is empty. */
static bool has_word(const char *list, size_t len, const char *name)
{
    size_t want = strlen(name);

    for (size_t at = 0; at <= len; at++) {
        size_t word = strcspn(list + at, ",:");

        if (word == want && !strncmp(list + at, name, want))
            return true;
        at += word;
    }
    return false;
}

/* Lines "ID:CONTROLLERS:PATH". */
bool wr_cgroup_path(const char *text, const char *controller, char *buf,
                    size_t cap)
{
    while (*text) {
        size_t line = strcspn(text, "\n");
        const char *list = memchr(text, ':', line);
        const char *path = list ? memchr(list + 1, ':',
                                         line - (size_t)(list + 1 - text))
                                : NULL;

        if (text[line] != '\n')
            return false; /* cut */
        if (path && has_word(list + 1, (size_t)(path - list - 1), controller)) {
            size_t len = (size_t)(text + line - (path + 1));

            if (len >= cap)
                return false;
            memcpy(buf, path + 1, len);
            buf[len] = '\0';
            if (!strcmp(buf, "/"))
                *buf = '\0';
            return true;
        }
        text += line + 1;
    }
    return false;
}

/* Where one limit is read: a hierarchy, and the group in it. */
struct cgroup_files {
    const char *root, *mount; /* "" and "/sys/fs/cgroup/memory" */
    char path[PATH_MAX];      /* shortened on the way up */
};

static bool read_file(const struct cgroup_files *g, const char *file, char *buf,
                      size_t cap)
{
    char name[2 * PATH_MAX];
    int n = snprintf(name, sizeof(name), "%s%s%s/%s", g->root, g->mount,
                     g->path, file);

    return n > 0 && (size_t)n < sizeof(name) &&
           wr_procfs_read_path(name, buf, cap) > 0;
}

static double cores_of(const struct cgroup_files *g)
{
    uint64_t quota, period;
    char text[64];
    double cores;

    if (read_file(g, "cpu.max", text, sizeof(text)))
        return wr_cgroup_cpu_max(text, &cores) ? cores : 0;
    if (read_file(g, "cpu.cfs_quota_us", text, sizeof(text)) &&
        wr_cgroup_number(text, &quota) &&
        read_file(g, "cpu.cfs_period_us", text, sizeof(text)) &&
        wr_cgroup_number(text, &period) && period)
        return (double)quota / (double)period;
    return 0;
}

static double memory_of(const struct cgroup_files *g)
{
    uint64_t bytes;
    char text[64];

    if ((read_file(g, "memory.max", text, sizeof(text)) ||
         read_file(g, "memory.limit_in_bytes", text, sizeof(text))) &&
        wr_cgroup_number(text, &bytes))
        return (double)bytes;
    return 0;
}

/* The smallest limit from the group up to the root of what is mounted; 0: none.
 * A container may see the path of the host, which is not there: then only the
 * root is. */
static double smallest(struct cgroup_files *g,
                       double (*limit_of)(const struct cgroup_files *))
{
    double least = 0;

    for (;;) {
        double limit = limit_of(g);
        char *slash = strrchr(g->path, '/');

        if (limit > 0 && (least <= 0 || limit < least))
            least = limit;
        if (!slash)
            return least;
        *slash = '\0';
    }
}

static double limit(const char *root, const char *text, const char *controller,
                    double (*limit_of)(const struct cgroup_files *))
{
    struct cgroup_files g = {.root = root};
    char mount[64];
    double v1, v2;

    snprintf(mount, sizeof(mount), "/sys/fs/cgroup/%s", controller);
    g.mount = mount;
    if (!wr_cgroup_path(text, controller, g.path, sizeof(g.path)))
        g.path[0] = '\0';
    v1 = smallest(&g, limit_of);
    g.mount = "/sys/fs/cgroup";
    if (!wr_cgroup_path(text, "", g.path, sizeof(g.path)))
        g.path[0] = '\0';
    v2 = smallest(&g, limit_of);
    if (v1 > 0 && v2 > 0)
        return v1 < v2 ? v1 : v2;
    return v1 > 0 ? v1 : v2;
}

void wr_cgroup_limits(const char *root, struct wr_cgroup *ret)
{
    char path[PATH_MAX], text[8192] = "";

    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    if (wr_procfs_read_path(path, text, sizeof(text)) < 0)
        text[0] = '\0';
    ret->cores = limit(root, text, "cpu", cores_of);
    ret->memory_bytes = (uint64_t)limit(root, text, "memory", memory_of);
}
