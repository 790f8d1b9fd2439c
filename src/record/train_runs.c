/* train_runs.c - several runs of training: which compare, and their names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/train_runs.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "result/get.h"

static bool same(const json_t *a, const json_t *b)
{
    return a == b || (a && b && json_equal(a, b));
}

bool wr_train_are_comparable(const struct wr_view_record *r, size_t n)
{
    static const char *const keys[] = {"dataset.samples", "network.width",
                                       "network.classes"};

    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < WR_ARRAY_LEN(keys); k++)
            if (!same(wr_get(r[0].json, keys[k]), wr_get(r[i].json, keys[k])))
                return false;
    return true;
}

static bool differs(const struct wr_view_record *r, size_t n, const char *key)
{
    const json_t *first = wr_get_object(r[0].json, "settings");

    for (size_t i = 1; i < n; i++)
        if (!same(json_object_get(first, key),
                  json_object_get(wr_get_object(r[i].json, "settings"), key)))
            return true;
    return false;
}

/* Appends a setting that differs to the name of each. */
static void add_setting(const struct wr_view_record *r, size_t n,
                        const char *key, char (*names)[WR_VIEW_NAME])
{
    for (size_t i = 0; i < n; i++) {
        const struct wr_case row = {
            .settings = wr_get_object(r[i].json, "settings")};

        wr_case_setting(&row, key, names[i], WR_VIEW_NAME);
    }
}

static void add_accelerators(const struct wr_view_record *r, size_t n,
                             char (*names)[WR_VIEW_NAME])
{
    const char *first = wr_get_text(r[0].json, "accelerator.name");
    bool differ = false;

    for (size_t i = 1; i < n; i++)
        differ |= strcmp(first, wr_get_text(r[i].json, "accelerator.name"));
    for (size_t i = 0; i < n && differ; i++)
        snprintf(names[i], WR_VIEW_NAME, "%s",
                 wr_get_text(r[i].json, "accelerator.name"));
}

void wr_train_names(const struct wr_view_record *r, size_t n,
                    char (*names)[WR_VIEW_NAME])
{
    /* Iterating is not const in jansson, but changes nothing. */
    json_t *settings = (json_t *)(uintptr_t)wr_get_object(r[0].json,
                                                          "settings");
    bool unique = true;
    const char *key;
    json_t *value;

    for (size_t i = 0; i < n; i++)
        names[i][0] = '\0';
    add_accelerators(r, n, names);
    json_object_foreach(settings, key, value) if (differs(r, n, key))
        add_setting(r, n, key, names);
    for (size_t i = 0; i < n; i++) {
        unique &= names[i][0] != '\0';
        for (size_t k = 0; k < i; k++)
            unique &= strcmp(names[i], names[k]) != 0;
    }
    for (size_t i = 0; i < n && !unique; i++)
        snprintf(names[i], WR_VIEW_NAME, "%s", r[i].label);
}
