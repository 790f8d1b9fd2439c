/* zip_write.c - what stands around the members of a ZIP file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/zip_write.h"

#include <string.h>

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "format/zip_format.h"

#define VERSION     45u         /* that knows sizes of 64 bits */
#define DATE        0x00210000u /* the first day of 1980: no clock in the bytes */
#define LOCAL_EXTRA 20u         /* two sizes */
#define ENTRY_EXTRA 28u         /* and an offset */
#define WIDE        UINT32_MAX /* look at the extra field */

size_t wr_zip_local_len(const char *name)
{
    return WR_ZIP_LOCAL_LEN + strlen(name) + LOCAL_EXTRA;
}

static uint8_t *room(struct wr_bytes *to, size_t n, weir_err *err)
{
    uint8_t *p = wr_bytes_room(to, n);

    if (!p) {
        wr_fail(err, WEIR_ENOMEM, "no memory for a ZIP directory");
        return NULL;
    }
    memset(p, 0, n);
    to->len += n;
    return p;
}

/* The fields that both headers of a member have, in the same order. */
static void put_common(uint8_t *p, const struct wr_zip_member *m,
                       unsigned extra)
{
    wr_le_put(p, VERSION, 2);
    wr_le_put(p + 4, m->deflated ? 8 : 0, 2);
    wr_le_put(p + 6, DATE, 4);
    wr_le_put(p + 10, m->crc, 4);
    wr_le_put(p + 14, WIDE, 4);
    wr_le_put(p + 18, WIDE, 4);
    wr_le_put(p + 22, strlen(m->name), 2);
    wr_le_put(p + 24, extra, 2);
}

static void put_extra(uint8_t *p, const struct wr_zip_member *m, unsigned len)
{
    wr_le_put(p, WR_ZIP_EXTRA64, 2);
    wr_le_put(p + 2, len - 4, 2);
    wr_le_put(p + 4, m->inflated, 8);
    wr_le_put(p + 12, m->stored, 8);
    if (len == ENTRY_EXTRA)
        wr_le_put(p + 20, m->head, 8);
}

int wr_zip_put_local(struct wr_bytes *to, const struct wr_zip_member *m,
                     weir_err *err)
{
    size_t name = strlen(m->name);
    uint8_t *p = room(to, wr_zip_local_len(m->name), err);

    if (!p)
        return WEIR_ENOMEM;
    wr_le_put(p, WR_ZIP_LOCAL_SIG, 4);
    put_common(p + 4, m, LOCAL_EXTRA);
    memcpy(p + WR_ZIP_LOCAL_LEN, m->name, name);
    put_extra(p + WR_ZIP_LOCAL_LEN + name, m, LOCAL_EXTRA);
    return 0;
}

static int put_entry(struct wr_bytes *to, const struct wr_zip_member *m,
                     weir_err *err)
{
    size_t name = strlen(m->name);
    uint8_t *p = room(to, WR_ZIP_ENTRY_LEN + name + ENTRY_EXTRA, err);

    if (!p)
        return WEIR_ENOMEM;
    wr_le_put(p, WR_ZIP_ENTRY_SIG, 4);
    wr_le_put(p + 4, VERSION, 2);
    put_common(p + 6, m, ENTRY_EXTRA);
    wr_le_put(p + 38, 0600u << 16, 4); /* rights, as Python gives */
    wr_le_put(p + 42, WIDE, 4);
    memcpy(p + WR_ZIP_ENTRY_LEN, m->name, name);
    put_extra(p + WR_ZIP_ENTRY_LEN + name, m, ENTRY_EXTRA);
    return 0;
}

static int put_ends(struct wr_bytes *to, uint64_t at, uint64_t size,
                    size_t count, weir_err *err)
{
    uint8_t *p = room(
        to, WR_ZIP_END64_LEN + WR_ZIP_LOCATOR_LEN + WR_ZIP_END_LEN, err);

    if (!p)
        return WEIR_ENOMEM;
    wr_le_put(p, WR_ZIP_END64_SIG, 4);
    wr_le_put(p + 4, WR_ZIP_END64_LEN - 12, 8);
    wr_le_put(p + 12, VERSION, 2);
    wr_le_put(p + 14, VERSION, 2);
    wr_le_put(p + 24, count, 8);
    wr_le_put(p + 32, count, 8);
    wr_le_put(p + 40, size, 8);
    wr_le_put(p + 48, at, 8);
    p += WR_ZIP_END64_LEN;
    wr_le_put(p, WR_ZIP_LOCATOR_SIG, 4);
    wr_le_put(p + 8, at + size, 8);
    wr_le_put(p + 16, 1, 4);
    p += WR_ZIP_LOCATOR_LEN;
    wr_le_put(p, WR_ZIP_END_SIG, 4);
    wr_le_put(p + 8, WR_MIN(count, (size_t)UINT16_MAX), 2);
    wr_le_put(p + 10, WR_MIN(count, (size_t)UINT16_MAX), 2);
    wr_le_put(p + 12, WR_MIN(size, (uint64_t)WIDE), 4);
    wr_le_put(p + 16, WR_MIN(at, (uint64_t)WIDE), 4);
    return 0;
}

int wr_zip_put_directory(struct wr_bytes *to, const struct wr_zip_member *m,
                         size_t count, uint64_t at, weir_err *err)
{
    size_t start = to->len;
    int r = 0;

    for (size_t k = 0; r == 0 && k < count; k++)
        r = put_entry(to, &m[k], err);
    return r < 0 ? r : put_ends(to, at, to->len - start, count, err);
}
