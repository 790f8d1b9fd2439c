/* fuzz_filters.c - packed units: the same in pieces as at once, and never a
 * byte beyond.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The head of the input is the list of filters (4 bytes), the argument (4),
 * the inflated bytes (2) and the size of pieces (1). */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "codec/filters.h"

#define HEAD  11
#define GUARD 0xa5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int undo_pieces(const struct wr_packing *p, const uint8_t *bytes,
                       size_t piece, uint8_t *out)
{
    struct wr_unfilter *u = NULL;
    weir_err err;
    size_t at = 0;
    int r = wr_unfilter_new(p, out, &u, &err);

    while (r == 0 && at < p->stored) {
        size_t n = WR_MIN(piece, (size_t)p->stored - at);

        r = wr_unfilter_feed(u, bytes + at, n, &err);
        at += n;
    }
    wr_unfilter_free(u);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_packing p = {0};
    uint8_t *a, *b;
    weir_err err;
    int r, s;

    if (size <= HEAD)
        return 0;
    memcpy(&p.filters, data, 4);
    memcpy(&p.argument, data + 4, 4);
    p.inflated = data[8] | (unsigned)data[9] << 8;
    p.stored = size - HEAD;
    a = malloc(p.inflated + 1);
    b = malloc(p.inflated + 1);
    if (!a || !b)
        abort();
    a[p.inflated] = b[p.inflated] = GUARD;
    r = wr_filters_undo(&p, data + HEAD, a, &err);
    s = undo_pieces(&p, data + HEAD, 1 + data[10] * 3u, b);
    if (a[p.inflated] != GUARD || b[p.inflated] != GUARD)
        abort();
    if ((r == 0) != (s == 1) || (r == 0 && memcmp(a, b, p.inflated)))
        abort();
    free(a);
    free(b);
    return 0;
}
