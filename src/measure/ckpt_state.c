/* ckpt_state.c - a training state to save: tensors of given shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/ckpt_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/rng.h"
#include "safetensors/head.h"
#include "storage/storage.h"

#define LIST_MAX ((size_t)16 << 20) /* bytes of a list of shapes */

static const struct wr_ckpt_shape alexnet[] = {
    {"features.0.weight", {64, 3, 11, 11}},
    {"features.0.bias", {64}},
    {"features.3.weight", {192, 64, 5, 5}},
    {"features.3.bias", {192}},
    {"features.6.weight", {384, 192, 3, 3}},
    {"features.6.bias", {384}},
    {"features.8.weight", {256, 384, 3, 3}},
    {"features.8.bias", {256}},
    {"features.10.weight", {256, 256, 3, 3}},
    {"features.10.bias", {256}},
    {"classifier.1.weight", {4096, 9216}},
    {"classifier.1.bias", {4096}},
    {"classifier.4.weight", {4096, 4096}},
    {"classifier.4.bias", {4096}},
    {"classifier.6.weight", {1000, 4096}},
    {"classifier.6.bias", {1000}},
    {NULL, {0}}};

static const struct wr_ckpt_shape vgg16[] = {
    {"features.0.weight", {64, 3, 3, 3}},
    {"features.0.bias", {64}},
    {"features.2.weight", {64, 64, 3, 3}},
    {"features.2.bias", {64}},
    {"features.5.weight", {128, 64, 3, 3}},
    {"features.5.bias", {128}},
    {"features.7.weight", {128, 128, 3, 3}},
    {"features.7.bias", {128}},
    {"features.10.weight", {256, 128, 3, 3}},
    {"features.10.bias", {256}},
    {"features.12.weight", {256, 256, 3, 3}},
    {"features.12.bias", {256}},
    {"features.14.weight", {256, 256, 3, 3}},
    {"features.14.bias", {256}},
    {"features.17.weight", {512, 256, 3, 3}},
    {"features.17.bias", {512}},
    {"features.19.weight", {512, 512, 3, 3}},
    {"features.19.bias", {512}},
    {"features.21.weight", {512, 512, 3, 3}},
    {"features.21.bias", {512}},
    {"features.24.weight", {512, 512, 3, 3}},
    {"features.24.bias", {512}},
    {"features.26.weight", {512, 512, 3, 3}},
    {"features.26.bias", {512}},
    {"features.28.weight", {512, 512, 3, 3}},
    {"features.28.bias", {512}},
    {"classifier.0.weight", {4096, 25088}},
    {"classifier.0.bias", {4096}},
    {"classifier.3.weight", {4096, 4096}},
    {"classifier.3.bias", {4096}},
    {"classifier.6.weight", {1000, 4096}},
    {"classifier.6.bias", {1000}},
    {NULL, {0}}};

static const struct wr_ckpt_shape small[] = {{"hidden.weight", {1024, 784}},
                                             {"hidden.bias", {1024}},
                                             {"out.weight", {10, 1024}},
                                             {"out.bias", {10}},
                                             {NULL, {0}}};

const struct wr_ckpt_model wr_ckpt_models[] = {
    {"alexnet", "61 million parameters: 244 MB, 733 MB with Adam's moments",
     alexnet},
    {"vgg16", "138 million parameters: 553 MB, 1.66 GB with moments", vgg16},
    {"small", "a perceptron: 3.3 MB, 9.8 MB with moments", small},
    {NULL, NULL, NULL}};

void wr_ckpt_load_done(struct wr_ckpt_load *l)
{
    for (size_t i = 0; i < l->count; i++)
        free((char *)(uintptr_t)l->tensors[i].name);
    free(l->tensors);
    if (l->memory)
        wr_big_free(l->memory, l->bytes + 8);
    *l = (struct wr_ckpt_load){0};
}

/* Adds a tensor without data; `name` is copied. */
static int add(struct wr_ckpt_load *l, size_t *cap, const weir_tensor *t,
               const char *suffix, weir_err *err)
{
    weir_tensor copy = *t;
    char *name;
    uint64_t bytes;
    int r = wr_tensor_bytes(t, &bytes, err);

    if (r < 0)
        return r;
    if (bytes > SIZE_MAX / 2 - l->bytes)
        return wr_fail(err, WEIR_ELIMIT, "'%s': too large", t->name);
    if (asprintf(&name, "%s%s", t->name, suffix) < 0)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (!wr_grow(&l->tensors, cap, l->count + 1, sizeof(*l->tensors))) {
        free(name);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    copy.name = name;
    copy.data = NULL;
    l->tensors[l->count++] = copy;
    l->bytes += bytes;
    return 0;
}

/* --- where shapes come from --- */

static int from_model(const struct wr_ckpt_model *m, struct wr_ckpt_load *l,
                      weir_err *err)
{
    size_t cap = 0;
    int r = 0;

    for (const struct wr_ckpt_shape *s = m->shapes; s->name && r == 0; s++) {
        weir_tensor t = {.name = s->name, .dtype = WEIR_F32};

        while (t.ndim < WR_ARRAY_LEN(s->dims) && s->dims[t.ndim]) {
            t.shape[t.ndim] = s->dims[t.ndim];
            t.ndim++;
        }
        r = add(l, &cap, &t, "", err);
    }
    return r;
}

/* "4096x9216" or "scalar"; false when it is neither. */
static bool parse_shape(const char *s, weir_tensor *t)
{
    char *end;

    if (!strcmp(s, "scalar"))
        return true;
    for (;; s = end + 1) {
        if (t->ndim == WEIR_TENSOR_DIMS || *s < '0' || *s > '9')
            return false;
        t->shape[t->ndim++] = strtoull(s, &end, 10);
        if (*end == '\0')
            return true;
        if (*end != 'x')
            return false;
    }
}

static int parse_line(char *line, struct wr_ckpt_load *l, size_t *cap,
                      weir_err *err)
{
    char *save, *name = strtok_r(line, " \t\r", &save);
    char *dtype = strtok_r(NULL, " \t\r", &save);
    char *shape = strtok_r(NULL, " \t\r", &save);
    weir_tensor t = {.name = name};

    if (!name || *name == '#')
        return 0;
    if (!shape || strtok_r(NULL, " \t\r", &save))
        return wr_fail(err, WEIR_EFORMAT,
                       "write NAME DTYPE SHAPE, as in 'fc1.weight F32 10x20'");
    if (!wr_dtype_find(dtype, &t.dtype))
        return wr_fail(err, WEIR_EFORMAT, "'%s' is no type (F32, BF16, ...)",
                       dtype);
    if (!parse_shape(shape, &t))
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s' is no shape (10x20, 10, scalar)", shape);
    return add(l, cap, &t, "", err);
}

static int parse_lines(char *text, const char *name, struct wr_ckpt_load *l,
                       weir_err *err)
{
    char *line, *rest = text;
    size_t cap = 0, number = 0;

    while ((line = strsep(&rest, "\n"))) {
        int r;

        number++;
        r = parse_line(line, l, &cap, err);
        if (r < 0)
            return wr_fail_prefix(err, r, "'%s': line %zu", name, number);
    }
    if (!l->count)
        return wr_fail(err, WEIR_EFORMAT, "'%s': no tensors in it", name);
    return 0;
}

int wr_ckpt_load_parse(const char *text, size_t len, const char *name,
                       struct wr_ckpt_load *ret, weir_err *err)
{
    struct wr_ckpt_load l = {0};
    char *copy = strndup(text, len);
    int r = copy ? parse_lines(copy, name, &l, err)
                 : wr_fail(err, WEIR_ENOMEM, "out of memory");

    free(copy);
    if (r < 0)
        wr_ckpt_load_done(&l);
    else
        *ret = l;
    return r;
}

static int from_head(struct wr_store *st, const char *leaf,
                     struct wr_ckpt_load *l, weir_err *err)
{
    struct wr_st_head head;
    size_t cap = 0;
    int r = wr_st_read(st, leaf, &head, NULL, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < head.count && r == 0; i++)
        r = add(l, &cap, &head.tensors[i].t, "", err);
    wr_st_done(&head);
    return r;
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);

    return n >= k && !strcmp(s + n - k, end);
}

static int from_file(const char *like, struct wr_ckpt_load *l, weir_err *err)
{
    struct wr_store *st;
    char *leaf, *text = NULL;
    size_t len;
    int r = wr_store_open(like, &st, &leaf, err);

    if (r < 0)
        return wr_fail_prefix(err, r, "no model is called so, and no file");
    if (!leaf)
        r = wr_fail(err, WEIR_EINVAL, "'%s': a folder; give a file", like);
    else if (ends_with(leaf, ".safetensors"))
        r = from_head(st, leaf, l, err);
    else
        r = wr_store_slurp(st, leaf, LIST_MAX, &text, &len, err);
    if (text)
        r = wr_ckpt_load_parse(text, len, leaf, l, err);
    free(text);
    free(leaf);
    wr_store_close(st);
    return r;
}

static int find_shapes(const char *like, struct wr_ckpt_load *l, weir_err *err)
{
    const struct wr_ckpt_model *m = wr_named_find(WR_NAMED_OPEN(wr_ckpt_models),
                                                  like);

    return m ? from_model(m, l, err) : from_file(like, l, err);
}

/* --- optimizer and data --- */

static int add_moments(struct wr_ckpt_load *l, unsigned moments, weir_err *err)
{
    size_t parameters = l->count, cap = l->count;
    char suffix[32];
    int r = 0;

    for (unsigned m = 1; m <= moments; m++) {
        snprintf(suffix, sizeof(suffix), ".moment%u", m);
        for (size_t i = 0; i < parameters && r == 0; i++)
            r = add(l, &cap, &l->tensors[i], suffix, err);
    }
    return r;
}

int wr_ckpt_load_fill(struct wr_ckpt_load *l, weir_err *err)
{
    uint64_t at = 0, bytes, *words;

    l->memory = wr_big_alloc(l->bytes + 8);
    if (!l->memory)
        return wr_fail(err, WEIR_ENOMEM,
                       "out of memory: the state has %" PRIu64 " bytes",
                       l->bytes);
    words = (uint64_t *)l->memory;
    for (uint64_t i = 0; i < l->bytes / 8; i++)
        words[i] = wr_mix64(i + 1);
    for (size_t i = 0; i < l->count; i++) {
        l->tensors[i].data = l->memory + at;
        if (wr_tensor_bytes(&l->tensors[i], &bytes, NULL) == 0)
            at += bytes;
    }
    return 0;
}

int wr_ckpt_load_shapes(const char *like, unsigned moments,
                        struct wr_ckpt_load *ret, weir_err *err)
{
    struct wr_ckpt_load l = {0};
    int r = find_shapes(like, &l, err);

    if (r == 0)
        r = add_moments(&l, moments, err);
    if (r < 0)
        wr_ckpt_load_done(&l);
    else
        *ret = l;
    return r;
}

void wr_ckpt_load_step(struct wr_ckpt_load *l, uint64_t step)
{
    for (size_t i = 0; i < l->count; i++) {
        uint64_t bytes, value = wr_mix64(step);

        if (wr_tensor_bytes(&l->tensors[i], &bytes, NULL) == 0)
            memcpy(l->tensors[i].data, &value, WR_MIN(bytes, sizeof(value)));
    }
}
