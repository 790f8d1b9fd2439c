/* fuzz_safetensors.c - heads of safetensors files.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "safetensors/head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read keeps the rules. */
static void check(const struct wr_st_head *h)
{
    uint64_t at = 0, bytes;

    for (size_t k = 0; k < h->count; k++) {
        const struct wr_st_tensor *t = &h->tensors[k];

        if (t->begin != at || wr_tensor_bytes(&t->t, &bytes, NULL) < 0 ||
            t->end - t->begin != bytes || t->t.ndim > WEIR_TENSOR_DIMS)
            abort();
        if (wr_st_find(h, t->t.name) != t)
            abort();
        at = t->end;
    }
    if (at != h->data_bytes)
        abort();
}

static void check_same(const struct wr_st_head *a, const struct wr_st_head *b)
{
    if (a->count != b->count || a->data_bytes != b->data_bytes ||
        a->metadata_count != b->metadata_count)
        abort();
    for (size_t k = 0; k < a->count; k++) {
        const weir_tensor *x = &a->tensors[k].t;
        const struct wr_st_tensor *y = wr_st_find(b, x->name);

        if (!y || y->t.dtype != x->dtype || y->t.ndim != x->ndim ||
            memcmp(y->t.shape, x->shape, sizeof(x->shape)) != 0)
            abort();
    }
    for (size_t k = 0; k < a->metadata_count; k++)
        if (strcmp(a->metadata[k].key, b->metadata[k].key) != 0 ||
            strcmp(a->metadata[k].value, b->metadata[k].value) != 0)
            abort();
}

/* And can be written and read again. */
static void write_again(const struct wr_st_head *h)
{
    weir_tensor *t = calloc(h->count + 1, sizeof(*t));
    weir_pair *pairs = calloc(h->metadata_count + 1, sizeof(*pairs));
    struct wr_st_head planned, got;
    bool named = true;
    uint8_t *buf;

    for (size_t k = 0; k < h->count; k++) {
        t[k] = h->tensors[k].t;
        named = named && *t[k].name; /* only readers take a name of nothing */
    }
    for (size_t k = 0; k < h->metadata_count; k++)
        pairs[k] = (weir_pair){h->metadata[k].key, h->metadata[k].value};
    if (wr_st_plan(t, h->count, pairs, h->metadata_count, &planned, NULL) < 0) {
        if (named)
            abort();
        free(t);
        free(pairs);
        return;
    }
    buf = malloc(planned.data_offset);
    if (wr_st_print(&planned, buf, NULL) < 0 ||
        wr_st_parse(buf, planned.data_offset,
                    planned.data_offset + planned.data_bytes, "again", &got,
                    NULL) < 0)
        abort();
    check(&got);
    check_same(h, &got);
    wr_st_done(&got);
    wr_st_done(&planned);
    free(buf);
    free(t);
    free(pairs);
}

static void parse(const uint8_t *bytes, size_t len, uint64_t file_size)
{
    struct wr_st_head h;
    weir_err err;

    if (wr_st_parse(bytes, len, file_size, "f", &h, &err) < 0)
        return;
    check(&h);
    write_again(&h);
    wr_st_done(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *framed = malloc(size + 8);
    uint64_t n = size - 2, behind;

    parse(data, size, size);
    parse(data, size, UINT64_C(1) << 60);
    /* Two bytes that say how many data there are, and JSON. */
    if (size > 2) {
        behind = data[0] | (uint64_t)data[1] << 8;
        for (int k = 0; k < 8; k++)
            framed[k] = (uint8_t)(n >> (8 * k));
        memcpy(framed + 8, data + 2, (size_t)n);
        parse(framed, 8 + (size_t)n, 8 + n + behind);
    }
    free(framed);
    return 0;
}
