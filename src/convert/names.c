/* names.c - keys that are safe as paths, and no two alike.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"

#define PART_MAX 200 /* file systems take 255; endings and suffixes follow */
#define KEY_ROOM 64  /* the same for the whole */

static bool is_dots(const char *part, size_t len)
{
    return len == 0 || (len == 1 && part[0] == '.') ||
           (len == 2 && part[0] == '.' && part[1] == '.');
}

static char safe_char(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f || c == '\\' ? '_' : c;
}

size_t wr_convert_safe_key(const char *key, size_t len,
                           char buf[WR_CONVERT_KEY_MAX])
{
    const char *end = key + len;
    size_t used = 0;

    while (key < end) {
        const char *slash = memchr(key, '/', (size_t)(end - key));
        size_t n = (size_t)((slash ? slash : end) - key);
        size_t keep = WR_MIN(n, (size_t)PART_MAX);

        if (!is_dots(key, n)) {
            if (used + 1 + keep > WR_CONVERT_KEY_MAX - KEY_ROOM)
                break;
            if (used)
                buf[used++] = '/';
            for (size_t k = 0; k < keep; k++)
                buf[used + k] = safe_char(key[k]);
            if (buf[used] == '.')
                buf[used] = '_';
            used += keep;
        }
        key += n + 1;
    }
    buf[used] = '\0';
    return used;
}

void wr_convert_flat_key(const char *key, char buf[WR_CONVERT_KEY_MAX])
{
    size_t len = strlen(key);

    memcpy(buf, key, len + 1);
    for (char *c = buf; *c; c++)
        *c = *c == '/' ? '_' : *c;
    if (len > PART_MAX)
        snprintf(buf + PART_MAX - 17, 18, "_%016" PRIx64,
                 (uint64_t)XXH3_64bits(key, len));
}

void wr_convert_names_done(struct wr_convert_names *n)
{
    wr_map_done(&n->hashes);
    free(n->suffix);
    *n = (struct wr_convert_names){0};
}

void wr_convert_names_seal(struct wr_convert_names *n)
{
    wr_map_done(&n->hashes);
}

/* 1 if the name is new, 0 if it was there; -1: out of memory. */
static int take_name(struct wr_convert_names *n, const char *name)
{
    uint64_t key = wr_map_hashed(XXH3_64bits(name, strlen(name)));

    n->hashes.size = sizeof(key);
    if (wr_map_find(&n->hashes, key))
        return 0;
    return wr_map_add(&n->hashes, key) ? 1 : -1;
}

int wr_convert_names_add(struct wr_convert_names *n, const char *name,
                         uint64_t id, uint64_t count, weir_err *err)
{
    char tried[WR_CONVERT_KEY_MAX + 16];
    uint32_t suffix = 1;
    int r = take_name(n, name);

    if (r > 0)
        return 0;
    while (r == 0) {
        snprintf(tried, sizeof(tried), "%s_%" PRIu32, name, ++suffix);
        r = take_name(n, tried);
    }
    if (r > 0 && !n->suffix) {
        n->suffix = calloc(count, sizeof(*n->suffix));
        n->suffix_count = count;
    }
    if (r < 0 || !n->suffix)
        return wr_fail(err, WEIR_ENOMEM, "out of memory for names");
    n->suffix[id] = suffix;
    return 0;
}

uint32_t wr_convert_names_suffix(const struct wr_convert_names *n, uint64_t id)
{
    return n->suffix && id < n->suffix_count ? n->suffix[id] : 0;
}
