/* jpeg_parts.c - a JPEG with restart markers, taken apart.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/jpeg_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/be.h"
#include "base/error.h"
#include "base/mem.h"

#define SOS 0xdau

void wr_jpeg_parts_done(struct wr_jpeg_parts *p)
{
    free(p->intervals);
    *p = (struct wr_jpeg_parts){0};
}

/* The end of the segment at `at`; 0 if there is none. */
static size_t segment_end(const uint8_t *b, size_t len, size_t at)
{
    size_t end;

    if (at + 4 > len || b[at] != 0xff)
        return 0;
    end = at + 2 + wr_be16(b + at + 2);
    return end <= len ? end : 0;
}

static int find_head(const uint8_t *b, size_t len, struct wr_jpeg_parts *p,
                     weir_err *err)
{
    size_t at = 2, end;

    while ((end = segment_end(b, len, at))) {
        if (at == 2)
            p->soi_len = (uint32_t)end;
        if (b[at + 1] == SOS) {
            p->head_len = (uint32_t)end;
            return 0;
        }
        at = end;
    }
    return wr_fail(err, WEIR_EFORMAT, "a JPEG without a scan");
}

static int add_interval(struct wr_jpeg_parts *p, size_t *cap, size_t from,
                        size_t to, weir_err *err)
{
    if (!wr_grow(&p->intervals, cap, p->count + 1, sizeof(*p->intervals)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    p->intervals[p->count++] = (struct wr_jpeg_interval){(uint32_t)from,
                                                         (uint32_t)(to - from)};
    return 0;
}

int wr_jpeg_parts_find(const uint8_t *bytes, size_t len,
                       struct wr_jpeg_parts *ret, weir_err *err)
{
    struct wr_jpeg_parts p = {0};
    const uint8_t *at, *from;
    size_t cap = 0;
    int r = len < UINT32_MAX ? find_head(bytes, len, &p, err)
                             : wr_fail(err, WEIR_ELIMIT, "a JPEG too large");

    from = bytes + p.head_len;
    at = from;
    /* Within the scan, 0xff is a marker unless 0 follows. */
    while (r == 0) {
        at = memchr(at, 0xff, len - (size_t)(at - bytes));
        if (!at || at + 1 >= bytes + len) {
            r = wr_fail(err, WEIR_EFORMAT, "a JPEG without an end");
        } else if (at[1] == 0) {
            at += 2;
        } else {
            r = add_interval(&p, &cap, (size_t)(from - bytes),
                             (size_t)(at - bytes), err);
            if (at[1] == WR_JPEG_EOI)
                break;
            from = at += 2;
        }
    }
    if (r < 0)
        wr_jpeg_parts_done(&p);
    else
        *ret = p;
    return r;
}
