/* tar_write.c - samples as members of a tar archive (WebDataset).
 * SPDX-License-Identifier: Apache-2.0
 *
 * A sample is KEY.jpg (or .png, as its bytes are) and, when it has a label, KEY.cls. Dots in the
 * basename of a key would end it there for whoever reads the archive: they
 * become '_'. */
#include "format/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "format/tarmember.h"

#define RECORD 10240u /* tar pads its archives to this */

/* Is the part of a path nothing that a name should have? */
static bool is_empty_part(const char *part, size_t len)
{
    return len == 0 || (len == 1 && part[0] == '.');
}

/* `key` as the beginning of a member's name: relative, no empty parts, "__"
 * for "..", no dots in the basename, never empty. `to` has room for strlen(key)
 * + 2 bytes. Returns its length. */
static size_t clean_key(const char *key, char *to)
{
    size_t len = 0, base = 0;

    for (const char *p = key; *p;) {
        size_t n = strcspn(p, "/");

        if (!is_empty_part(p, n)) {
            if (len)
                to[len++] = '/';
            base = len;
            memcpy(to + len, p, n);
            if (n == 2 && p[0] == '.' && p[1] == '.')
                memset(to + len, '_', 2);
            len += n;
        }
        p += n;
        p += *p == '/';
    }
    if (!len)
        to[len++] = '_';
    to[len] = '\0';
    for (char *dot = to + base; (dot = strchr(dot, '.')); dot++)
        *dot = '_';
    return len;
}

static const char *picture_ext(const struct wr_write_sample *s)
{
    enum wr_picture_kind kind = s->info.kind;

    if (kind == WR_PICTURE_UNKNOWN)
        kind = wr_picture_probe(s->bytes, s->len);
    return kind == WR_PICTURE_UNKNOWN ? ".bin" : wr_picture_kind_ext(kind);
}

static int put_member(struct wr_bytes *to, const char *name, const void *bytes,
                      size_t len, weir_err *err)
{
    int r = wr_tar_put_head(to, name, len, err);
    size_t room;
    uint8_t *p;

    if (r < 0)
        return r;
    p = wr_add_ok(len, WR_TAR_BLOCK - 1, &room)
            ? wr_bytes_room(to, room / WR_TAR_BLOCK * WR_TAR_BLOCK)
            : NULL;
    if (!p)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    room = room / WR_TAR_BLOCK * WR_TAR_BLOCK;
    if (len)
        memcpy(p, bytes, len);
    memset(p + len, 0, room - len);
    to->len += room;
    return 0;
}

static int tar_add(struct wr_bytes *to, const struct wr_write_sample *s,
                   weir_err *err)
{
    char *name = malloc(strlen(s->key) + sizeof("_") + WR_PICTURE_EXT_BYTES);
    size_t start = to->len, len;
    char label[16];
    int r;

    if (!name)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    len = clean_key(s->key, name);
    snprintf(name + len, WR_PICTURE_EXT_BYTES, "%s", picture_ext(s));
    r = put_member(to, name, s->bytes, s->len, err);
    if (r == 0 && s->label != WEIR_NO_LABEL) {
        snprintf(label, sizeof(label), "%u", s->label);
        memcpy(name + len, ".cls", 5);
        r = put_member(to, name, label, strlen(label), err);
    }
    if (r < 0)
        to->len = start; /* a whole sample or nothing */
    free(name);
    return r;
}

/* The end is two blocks of zeros, and zeros up to a whole record. */
static int tar_finish(struct wr_bytes *to, weir_err *err)
{
    size_t used = (to->len + (size_t)2 * WR_TAR_BLOCK) % RECORD;
    size_t room = (size_t)2 * WR_TAR_BLOCK + (used ? RECORD - used : 0);
    uint8_t *p = wr_bytes_room(to, room);

    if (!p)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    memset(p, 0, room);
    to->len += room;
    return 0;
}

const struct wr_writer_ops wr_writer_tar = {
    .name = "tar",
    .ext = ".tar",
    .paths = true,
    .add = tar_add,
    .finish = tar_finish,
};
