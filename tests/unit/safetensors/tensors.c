/* tensors.c - tensors of random bytes for tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fill_random(void *to, size_t len, uint64_t seed)
{
    uint64_t x = seed * 2 + 1;
    uint8_t *p = to;

    for (size_t i = 0; i < len; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        p[i] = (uint8_t)(x >> 56);
    }
}

void tensors_add(struct tensors *ts, enum weir_dtype type, unsigned width,
                 uint64_t bytes)
{
    weir_tensor *t = &ts->t[ts->count];

    snprintf(ts->names[ts->count], sizeof(ts->names[0]), "t%zu", ts->count);
    *t = (weir_tensor){
        .name = ts->names[ts->count],
        .dtype = type,
        .ndim = 1,
        .shape = {bytes / width},
        .data = ts->in_pages
                    ? aligned_alloc(4096, (size_t)bytes / 4096 * 4096 + 4096)
                    : malloc((size_t)bytes + 1)};
    if (!t->data)
        abort();
    fill_random(t->data, (size_t)bytes, bytes + 77 * ts->count);
    ts->count++;
}

void tensors_done(struct tensors *ts)
{
    for (size_t i = 0; i < ts->count; i++)
        free(ts->t[i].data);
    ts->count = 0;
}

void tensors_split(struct tensors *ts, uint64_t bytes, uint64_t seed)
{
    static const enum weir_dtype types[] = {WEIR_U8, WEIR_F16, WEIR_F32,
                                            WEIR_F64};
    uint64_t x = seed;

    for (unsigned i = 0; i < 9 && bytes; i++) {
        unsigned width = 1u << (i % 4);
        uint64_t part;

        x = x * UINT64_C(6364136223846793005) + 1;
        part = (x >> 32) % (bytes + 1) / width * width;
        tensors_add(ts, types[i % 4], width, part);
        bytes -= part;
    }
    tensors_add(ts, WEIR_U8, 1, bytes);
}
