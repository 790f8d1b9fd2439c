/* hdf5_choose.c - which datasets of a file are the fields of its samples.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/hdf5_choose.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/shown.h"
#include "base/text.h"
#include "format/fragment.h"

/* One more dataset, at a path that may begin with '/'. */
static int add(struct wr_h5_choice *c, const char *field, const char *path,
               weir_err *err)
{
    const char *name = path + strspn(path, "/");

    if (!*name || strlen(name) >= sizeof(c->list[0].path))
        return wr_fail(err, WEIR_EINVAL,
                       "'%s=%s' is not NAME=/PATH of a dataset, of up to %d "
                       "bytes",
                       wr_show(field).text, wr_show(path).text, WR_H5_NAME - 1);
    if (c->count == WR_NPZ_MAX)
        return wr_fail(err, WEIR_ELIMIT, "more than %d datasets", WR_NPZ_MAX);
    snprintf(c->list[c->count].field, sizeof(c->list[0].field), "%s", field);
    strcpy(c->list[c->count++].path, name);
    return 0;
}

int wr_h5_choice_parse(const char *fragment, struct wr_h5_choice *ret,
                       weir_err *err)
{
    struct wr_fragment f;
    struct wr_h5_choice c = {0};
    int r = wr_fragment_parse(fragment, &f, err);

    for (unsigned k = 0; r == 0 && k < f.count; k++)
        r = add(&c, f.pairs[k].name, f.pairs[k].value, err);
    if (r == 0)
        *ret = c;
    return r;
}

/* --- without being told --- */

static bool is_record(const char *name)
{
    return !strncmp(name, "records_", 8) && name[8] &&
           strspn(name + 8, "0123456789") == strlen(name + 8);
}

static bool has_samples(const struct wr_h5_array *a)
{
    return a->code == 0 && a->said.ndim >= 2;
}

/* The first of several dimensions; NULL: none, or several that are not called
 * records_K. */
static const struct wr_h5_array *find_tensor(const struct wr_h5_array *list,
                                             size_t count)
{
    const struct wr_h5_array *first = NULL;

    for (size_t k = 0; k < count; k++) {
        if (!has_samples(&list[k]))
            continue;
        if (first &&
            !(is_record(first->said.name) && is_record(list[k].said.name)))
            return NULL;
        first = first ? first : &list[k];
    }
    return first;
}

static bool is_integer(const struct wr_h5_array *a)
{
    return a->said.type == WR_H5_SIGNED || a->said.type == WR_H5_UNSIGNED;
}

static bool is_beside(const struct wr_h5_array *a,
                      const struct wr_h5_array *tensor)
{
    return a->code == 0 && a->said.ndim == 1 &&
           a->said.dims[0] == tensor->said.dims[0];
}

/* "x 1000x28x28, y 1000 (strings)": what a user may choose from. */
static void tell(const struct wr_h5_array *list, size_t count, char *buf,
                 size_t cap)
{
    size_t used = 0;

    buf[0] = '\0';
    for (size_t k = 0; k < count && used + 1 < cap; k++) {
        const struct wr_h5_dataset *d = &list[k].said;
        char shown[64];
        int n = snprintf(
            buf + used, cap - used, "%s/%s", k ? ", " : "",
            wr_text_show(d->name, /* controls= */ true, shown, sizeof(shown)));

        for (uint32_t i = 0; i < d->ndim && i < WR_H5_DIMS && n >= 0; i++) {
            used = WR_MIN(used + (size_t)n, cap - 1);
            n = snprintf(buf + used, cap - used, "%c%" PRIu64, i ? 'x' : ' ',
                         d->dims[i]);
        }
        used = WR_MIN(used + (size_t)WR_MAX(n, 0), cap - 1);
    }
}

static int fail_choice(const struct wr_h5_array *list, size_t count,
                       weir_err *err)
{
    char known[300], why[WR_H5_WHY];

    if (!count)
        return wr_fail(err, WEIR_EFORMAT, "it has no datasets");
    tell(list, count, known, sizeof(known));
    for (size_t k = 0; k < count; k++)
        if (list[k].code)
            return wr_fail(err, list[k].code,
                           "which dataset holds the samples? Name it: "
                           "FILE#data=/path. It has %s; '/%s' cannot be read: "
                           "%s",
                           known, wr_show(list[k].said.name).text,
                           wr_text_show(list[k].said.why, /* controls= */ true,
                                        why, sizeof(why)));
    return wr_fail(err, WEIR_EFORMAT,
                   "which dataset holds the samples? Name it: "
                   "FILE#data=/path,label=/path. It has %s",
                   known);
}

int wr_h5_choice_detect(const struct wr_h5_array *list, size_t count,
                        struct wr_h5_choice *ret, weir_err *err)
{
    const struct wr_h5_array *tensor = find_tensor(list, count);
    const struct wr_h5_array *label = NULL;
    struct wr_h5_choice c = {0};
    unsigned integers = 0;
    int r = tensor ? 0 : fail_choice(list, count, err);

    for (size_t k = 0; k < count && r == 0; k++) {
        const char *name = list[k].said.name;
        bool beside = tensor && is_beside(&list[k], tensor);

        if (!has_samples(&list[k]) && !beside)
            continue;
        r = add(&c, name, name, err);
        if (beside && is_integer(&list[k])) {
            integers++;
            label = &list[k];
        }
    }
    if (r < 0)
        return r;
    if (integers == 1)
        snprintf(c.label, sizeof(c.label), "%s", label->said.name);
    *ret = c;
    return 0;
}

size_t wr_h5_choice_paths(const struct wr_h5_choice *c, char *buf, size_t cap)
{
    size_t used = 0;

    for (size_t k = 0; k < c->count; k++) {
        size_t len = strlen(c->list[k].path) + 1;

        if (used + len > cap)
            break;
        memcpy(buf + used, c->list[k].path, len);
        used += len;
    }
    return used;
}
