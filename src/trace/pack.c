/* pack.c - numbers and texts in few bytes, written and read with care.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/pack.h"

#include <string.h>

#include "base/mem.h"

bool wr_pack_room(struct wr_pack *p, size_t more)
{
    size_t need;

    if (p->failed || !wr_add_ok(p->len, more, &need) ||
        !wr_grow(&p->bytes, &p->cap, need, 1)) {
        p->failed = true;
        return false;
    }
    return true;
}

void wr_pack_bytes(struct wr_pack *p, const void *bytes, size_t len)
{
    if (!len || !wr_pack_room(p, len))
        return;
    memcpy(p->bytes + p->len, bytes, len);
    p->len += len;
}

void wr_pack_number(struct wr_pack *p, uint64_t v)
{
    if (!wr_pack_room(p, WR_PACK_NUMBER_MAX))
        return;
    p->len = (size_t)(wr_pack_put(p->bytes + p->len, v) - p->bytes);
}

void wr_pack_text(struct wr_pack *p, const char *s)
{
    size_t len = s ? strlen(s) : 0;

    wr_pack_number(p, s ? (uint64_t)len + 1 : 0);
    wr_pack_bytes(p, s, len);
}

uint64_t wr_packed_long(struct wr_packed *p)
{
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t b;

        if (p->at >= p->end)
            break;
        b = *p->at++;
        if (shift == 63 && b > 1)
            break;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return v;
    }
    p->bad = true;
    p->at = p->end;
    return 0;
}

struct wr_packed wr_packed_part(struct wr_packed *p, uint64_t len)
{
    struct wr_packed part = {.at = p->end, .end = p->end, .bad = true};

    if (p->bad || len > (uint64_t)(p->end - p->at)) {
        p->bad = true;
        p->at = p->end;
        return part;
    }
    part = (struct wr_packed){.at = p->at, .end = p->at + len};
    p->at += len;
    return part;
}

const char *wr_packed_text(struct wr_packed *p, size_t max, size_t *ret_len)
{
    uint64_t len = wr_packed_number(p);
    struct wr_packed part;

    if (!len--)
        return NULL;
    if (len > max) {
        p->bad = true;
        return NULL;
    }
    part = wr_packed_part(p, len);
    if (part.bad)
        return NULL;
    *ret_len = (size_t)len;
    return (const char *)part.at;
}
