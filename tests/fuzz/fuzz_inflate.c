/* fuzz_inflate.c - gzip in pieces: the same whatever the pieces are.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first two bytes of the input say how it is fed and read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "codec/inflate.h"

#define MAX_OUT ((size_t)1 << 17)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct result {
    uint8_t *bytes; /* owned */
    size_t len;
    bool done;
};

static void inflate_all(const uint8_t *data, size_t size, size_t in, size_t out,
                        struct result *ret)
{
    struct wr_inflate *z = NULL;
    weir_err err;
    int64_t n = 0;

    memset(ret, 0, sizeof(*ret));
    ret->bytes = malloc(MAX_OUT + out);
    if (!ret->bytes || wr_inflate_new(&z, &err) < 0)
        abort();
    while (ret->len < MAX_OUT &&
           (n = wr_inflate_read(z, ret->bytes + ret->len, out, &err)) >= 0) {
        if (n == 0 && !size)
            break;
        if (n == 0) {
            in = WR_MIN(in, size);
            wr_inflate_feed(z, data, in);
            data += in;
            size -= in;
        }
        if ((size_t)n > out)
            abort();
        ret->len += (size_t)n;
    }
    ret->done = ret->len < MAX_OUT && n == 0 && wr_inflate_is_done(z);
    wr_inflate_free(z);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct result a, b;

    if (size < 2)
        return 0;
    inflate_all(data + 2, size - 2, 1 + data[0], 1 + data[1] * 7u, &a);
    inflate_all(data + 2, size - 2, size, 65536, &b);
    if (a.len < MAX_OUT && b.len < MAX_OUT) {
        if (a.done != b.done || (a.done && a.len != b.len))
            abort();
        if (a.done && memcmp(a.bytes, b.bytes, a.len) != 0)
            abort();
    }
    free(a.bytes);
    free(b.bytes);
    return 0;
}
