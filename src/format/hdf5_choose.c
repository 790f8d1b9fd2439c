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

/* Dimensions of elements: a complex number of two f64 is one. */
static uint32_t rank_of(const struct wr_h5_array *a)
{
    return a->said.ndim - !!a->said.inner;
}

static bool is_empty(const struct wr_h5_array *a)
{
    return a->code == 0 && a->bytes == 0;
}

static bool has_samples(const struct wr_h5_array *a)
{
    return a->code == 0 && rank_of(a) >= 2 && !a->said.text && !is_empty(a);
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
    return a->said.ndim == 1 &&
           (a->said.type == WR_H5_SIGNED || a->said.type == WR_H5_UNSIGNED);
}

static bool is_beside(const struct wr_h5_array *a,
                      const struct wr_h5_array *tensor)
{
    return (rank_of(a) == 1 || a->said.text) &&
           a->said.dims[0] == tensor->said.dims[0];
}

/* Would it be a field if its bytes could be had? */
static bool is_missed(const struct wr_h5_array *a,
                      const struct wr_h5_array *tensor)
{
    return a->code &&
           (a->said.layout != WR_H5_REFUSED || a->said.unreachable) &&
           (is_beside(a, tensor) || (a->said.ndim != 1 && !a->said.text));
}

/* "/x 1000x28x28" */
struct array_text {
    char text[256];
};

static struct array_text show_array(const struct wr_h5_dataset *d)
{
    struct array_text t;
    char shown[64];
    int used = snprintf(
        t.text, sizeof(t.text), "/%s",
        wr_text_show(d->name, /* controls= */ true, shown, sizeof(shown)));

    for (uint32_t k = 0; k < d->ndim && k < WR_H5_DIMS; k++)
        used += snprintf(t.text + used, sizeof(t.text) - (size_t)used,
                         "%c%" PRIu64, k ? 'x' : ' ', d->dims[k]);
    return t;
}

/* What a user may choose from: as many as there is room for, and how many there
 * are beside. */
static void tell(const struct wr_h5_array *list, size_t count, char *buf,
                 size_t cap)
{
    const size_t more = sizeof(" and 1024 more");
    size_t used = 0;

    buf[0] = '\0';
    for (size_t k = 0; k < count; k++) {
        struct array_text t = show_array(&list[k].said);

        if (used + strlen(t.text) + 2 + more > cap) {
            snprintf(buf + used, cap - used, " and %zu more", count - k);
            return;
        }
        used += (size_t)snprintf(buf + used, cap - used, "%s%s", k ? ", " : "",
                                 t.text);
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

/* A field that is not there would not be seen: it is refused. */
static int check_missed(const struct wr_h5_array *list, size_t count,
                        const struct wr_h5_array *tensor, weir_err *err)
{
    for (size_t k = 0; k < count; k++)
        if (is_missed(&list[k], tensor))
            return wr_fail(err, list[k].code,
                           "dataset '/%s' cannot be read: %s. Name the others "
                           "to do without it: FILE#data=/%s",
                           wr_show(list[k].said.name).text,
                           wr_show(list[k].said.why).text,
                           wr_show(tensor->said.name).text);
    return 0;
}

/* Strings, and complex numbers beside the samples, come last: the first tensor is
 * what the samples are. */
static int add_found(const struct wr_h5_array *list, size_t count,
                     const struct wr_h5_array *tensor, struct wr_h5_choice *c,
                     weir_err *err)
{
    int r = 0;

    for (size_t k = 0; k < 2 * count && r == 0; k++) {
        const struct wr_h5_array *a = &list[k % count];

        bool complex = a->said.inner || a->said.type == WR_H5_COMPLEX;
        bool last = a->said.text || (complex && rank_of(a) == 1);

        if ((k >= count) == last && !a->code &&
            (has_samples(a) || is_beside(a, tensor)))
            r = add(c, a->said.name, a->said.name, err);
    }
    return r;
}

int wr_h5_choice_detect(const struct wr_h5_array *list, size_t count,
                        struct wr_h5_choice *ret, weir_err *err)
{
    const struct wr_h5_array *tensor = find_tensor(list, count);
    const struct wr_h5_array *label = NULL;
    struct wr_h5_choice c = {0};
    unsigned integers = 0;
    int r = tensor ? check_missed(list, count, tensor, err)
                   : fail_choice(list, count, err);

    if (r == 0)
        r = add_found(list, count, tensor, &c, err);
    if (r < 0)
        return r;
    for (size_t k = 0; k < count; k++)
        if (!list[k].code && is_beside(&list[k], tensor) &&
            is_integer(&list[k])) {
            integers++;
            label = &list[k];
        }
    if (integers == 1)
        snprintf(c.label, sizeof(c.label), "%s", label->said.name);
    *ret = c;
    return 0;
}

bool wr_h5_choice_omits(const struct wr_h5_choice *c,
                        const struct wr_h5_array *a, weir_err *err)
{
    for (size_t k = 0; k < c->count; k++)
        if (!strcmp(c->list[k].path, a->said.name))
            return false;
    if (a->code)
        wr_fail(err, a->code, "dataset '/%s' is not read: %s",
                wr_show(a->said.name).text, wr_show(a->said.why).text);
    else if (is_empty(a))
        wr_fail(err, WEIR_ENOTSUP, "dataset '/%s' is not read: it is empty",
                wr_show(a->said.name).text);
    else
        wr_fail(err, WEIR_ENOTSUP,
                "dataset '/%s' is not read: it has %" PRIu64
                " numbers, which is not the number of samples",
                wr_show(a->said.name).text, a->said.dims[0]);
    return true;
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
