/* patient.c - machines to examine: a root with files, and what is found there.
 * SPDX-License-Identifier: Apache-2.0 */
#include "patient.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void patient_make(struct patient *p, const char *script)
{
    char cmd[2048];

    memset(p, 0, sizeof(*p));
    if (!script)
        return;
    snprintf(p->root, sizeof(p->root), "/tmp/weir-test-XXXXXX");
    assert_non_null(mkdtemp(p->root));
    snprintf(cmd, sizeof(cmd),
             "cd %s && mkdir -p proc/self proc/sys/kernel proc/sys/vm dev "
             "sys/fs/cgroup && echo 6.1.0-13 >proc/sys/kernel/osrelease && "
             "printf 'MemTotal: 8000000 kB\\nMemAvailable: 4000000 kB\\n' "
             ">proc/meminfo && echo 0::/ >proc/self/cgroup && %s",
             p->root, script);
    assert_int_equal(system(cmd), 0);
}

void patient_examine(struct patient *p, const char *path)
{
    char *paths[] = {path ? strdup(path) : NULL};
    const struct wr_doctor d = {
        .root = p->root, .paths = paths, .path_count = path ? 1 : 0};

    free(p->list);
    p->list = NULL;
    assert_int_equal(wr_doctor_examine(&d, &p->list, &p->count, NULL), 0);
    free(paths[0]);
}

const struct wr_finding *patient_finding(const struct patient *p,
                                         const char *check)
{
    for (size_t i = 0; i < p->count; i++)
        if (!strcmp(p->list[i].check, check))
            return &p->list[i];
    return NULL;
}

void patient_done(struct patient *p)
{
    char cmd[256];

    free(p->list);
    snprintf(cmd, sizeof(cmd), "rm -r %s", p->root);
    if (*p->root)
        assert_int_equal(system(cmd), 0);
}

void patient_has(const struct patient *p, const char *check,
                 enum wr_health health, const char *found, const char *remedy)
{
    const struct wr_finding *f = patient_finding(p, check);

    assert_non_null(f);
    if (f->health != health || !strstr(f->found, found) ||
        !strstr(f->remedy, remedy))
        fail_msg("%s: %s: '%s' '%s'", check, wr_health_name(f->health),
                 f->found, f->remedy);
    /* What is not as it should be says what that means. */
    if (health != WR_HEALTH_OK)
        assert_true(*f->means);
}
