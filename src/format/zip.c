/* zip.c - the directory of a ZIP file: where the members' bytes lie.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/zip.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "base/shown.h"
#include "format/zip_format.h"

#define COMMENT_MAX 65535u /* bytes behind the end record */
#define FIRST_READ  4096u  /* the directory of few members fits */

#define FLAG_ENCRYPTED 0x0001u
#define FLAG_STRONG    0x0040u
#define FLAG_PATCH     0x0020u
#define FLAG_MASKED    0x2000u

/* The last bytes of the file. */
struct tail {
    uint8_t *bytes; /* owned */
    size_t len;
    uint64_t at; /* of the first one, in the file */
};

/* What the end records say. */
struct ends {
    uint64_t at; /* of the first end record: the directory ends there */
    uint64_t count, size, offset;
};

static int fail_damaged(weir_err *err, const char *what)
{
    return wr_fail(err, WEIR_EFORMAT, "damaged ZIP file: %s", what);
}

/* Grows the tail to `len` bytes. */
static int tail_read(struct tail *t, struct wr_object *o, uint64_t size,
                     size_t len, weir_err *err)
{
    uint8_t *bytes = malloc(len + 1);
    int r;

    if (!bytes)
        return wr_fail(err, WEIR_ENOMEM, "no memory for a ZIP directory");
    r = wr_object_read_fully(o, bytes, len, size - len, err);
    if (r < 0) {
        free(bytes);
        return r;
    }
    free(t->bytes);
    *t = (struct tail){.bytes = bytes, .len = len, .at = size - len};
    return 0;
}

/* The end record in the tail, as an offset into it; -1: it is not there. A
 * comment behind it may hold the same signature, its length tells. */
static int64_t find_end(const struct tail *t)
{
    for (size_t k = t->len >= WR_ZIP_END_LEN ? t->len - WR_ZIP_END_LEN + 1 : 0;
         k-- > 0;)
        if (wr_le32(t->bytes + k) == WR_ZIP_END_SIG &&
            k + WR_ZIP_END_LEN + wr_le16(t->bytes + k + 20) == t->len)
            return (int64_t)k;
    return -1;
}

static int read_end64(const struct tail *t, struct wr_object *o,
                      uint64_t locator, struct ends *io, weir_err *err)
{
    const uint8_t *l = t->bytes + (locator - t->at);
    uint64_t at = wr_le64(l + 8);
    uint8_t end[WR_ZIP_END64_LEN];
    int r;

    if (wr_le32(l + 4) != 0 || wr_le32(l + 16) > 1)
        return wr_fail(err, WEIR_ENOTSUP, "a ZIP file over several disks");
    if (locator < WR_ZIP_END64_LEN)
        return fail_damaged(err, "no room for the 64-bit end record");
    /* Bytes may have been put in front of the archive since. */
    if (at > locator - WR_ZIP_END64_LEN)
        return fail_damaged(err, "the 64-bit end record is not in the file");
    r = wr_object_read_fully(o, end, sizeof(end), at, err);
    if (r < 0)
        return r;
    if (wr_le32(end) != WR_ZIP_END64_SIG) {
        at = locator - WR_ZIP_END64_LEN;
        r = wr_object_read_fully(o, end, sizeof(end), at, err);
        if (r < 0)
            return r;
        if (wr_le32(end) != WR_ZIP_END64_SIG)
            return fail_damaged(err, "no 64-bit end record");
    }
    if (wr_le32(end + 16) != 0 || wr_le32(end + 20) != 0 ||
        wr_le64(end + 24) != wr_le64(end + 32))
        return wr_fail(err, WEIR_ENOTSUP, "a ZIP file over several disks");
    *io = (struct ends){.at = at,
                        .count = wr_le64(end + 32),
                        .size = wr_le64(end + 40),
                        .offset = wr_le64(end + 48)};
    return 0;
}

static int check_ends(const struct ends *e, weir_err *err)
{
    if (e->count > WR_ZIP_MAX_MEMBERS)
        return wr_fail(err, WEIR_ELIMIT,
                       "a ZIP file of %" PRIu64 " members, over %u", e->count,
                       WR_ZIP_MAX_MEMBERS);
    if (e->size > WR_ZIP_MAX_DIRECTORY)
        return wr_fail(err, WEIR_ELIMIT,
                       "a ZIP directory of %" PRIu64 " bytes, over 16 MiB",
                       e->size);
    if (e->size > e->at || e->offset > e->at - e->size)
        return fail_damaged(err, "the directory reaches beyond its end");
    return 0;
}

/* Finds the end records. */
static int read_ends(struct tail *t, struct wr_object *o, uint64_t size,
                     struct ends *ret, weir_err *err)
{
    int64_t k;
    const uint8_t *end;
    int r;

    r = tail_read(t, o, size, (size_t)WR_MIN(size, (uint64_t)FIRST_READ), err);
    if (r < 0)
        return r;
    k = find_end(t);
    if (k < WR_ZIP_LOCATOR_LEN && t->at) { /* a long comment */
        size_t most = WR_ZIP_END_LEN + WR_ZIP_LOCATOR_LEN + COMMENT_MAX;

        r = tail_read(t, o, size, (size_t)WR_MIN(size, (uint64_t)most), err);
        if (r < 0)
            return r;
        k = find_end(t);
    }
    if (k < 0)
        return wr_fail(err, WEIR_EFORMAT,
                       "not a ZIP file, or cut off: it has no directory");
    end = t->bytes + k;
    *ret = (struct ends){.at = t->at + (uint64_t)k,
                         .count = wr_le16(end + 10),
                         .size = wr_le32(end + 12),
                         .offset = wr_le32(end + 16)};
    if (k >= WR_ZIP_LOCATOR_LEN &&
        wr_le32(end - WR_ZIP_LOCATOR_LEN) == WR_ZIP_LOCATOR_SIG)
        r = read_end64(t, o, ret->at - WR_ZIP_LOCATOR_LEN, ret, err);
    else if (wr_le16(end + 4) != 0 || wr_le16(end + 6) != 0 ||
             wr_le16(end + 8) != wr_le16(end + 10))
        r = wr_fail(err, WEIR_ENOTSUP, "a ZIP file over several disks");
    return r < 0 ? r : check_ends(ret, err);
}

/* The directory's bytes, from the tail where it has them, with a NUL behind
 * them. */
static int read_directory(const struct tail *t, struct wr_object *o,
                          const struct ends *e, uint8_t **ret, weir_err *err)
{
    uint64_t at = e->at - e->size;
    uint8_t *bytes = malloc(e->size + 1);
    int r = 0;

    if (!bytes)
        return wr_fail(err, WEIR_ENOMEM, "no memory for a ZIP directory");
    if (at >= t->at && e->at <= t->at + t->len)
        memcpy(bytes, t->bytes + (at - t->at), e->size);
    else
        r = wr_object_read_fully(o, bytes, e->size, at, err);
    bytes[e->size] = '\0';
    if (r < 0) {
        free(bytes);
        return r;
    }
    *ret = bytes;
    return 0;
}

/* Takes the numbers that did not fit into 32 bits out of the extra fields. */
static bool take_extra64(const uint8_t *extra, size_t len,
                         uint64_t *const wide[3])
{
    for (size_t at = 0; at + 4 <= len;) {
        size_t n = wr_le16(extra + at + 2), from = at + 4;

        if (n > len - from)
            return false;
        at = from + n;
        if (wr_le16(extra + from - 4) != WR_ZIP_EXTRA64)
            continue;
        for (int k = 0; k < 3; k++) {
            if (*wide[k] != UINT32_MAX)
                continue;
            if (from + 8 > at)
                return false;
            *wide[k] = wr_le64(extra + from);
            from += 8;
        }
        return true;
    }
    /* Without one the number is what it says. */
    return true;
}

static int check_member(const struct wr_zip_member *m, uint16_t flags,
                        uint16_t method, weir_err *err)
{
    if (flags & (FLAG_ENCRYPTED | FLAG_STRONG | FLAG_MASKED))
        return wr_fail(err, WEIR_ENOTSUP, "member '%s' is encrypted",
                       wr_show(m->name).text);
    if (flags & FLAG_PATCH || (method != 0 && method != 8))
        return wr_fail(err, WEIR_ENOTSUP,
                       "member '%s' is packed by method %u; stored (0) and "
                       "deflated (8) are read",
                       wr_show(m->name).text, method);
    if (method == 0 && m->stored != m->inflated)
        return wr_fail(err, WEIR_EFORMAT,
                       "member '%s' is stored, but its two sizes differ",
                       wr_show(m->name).text);
    return 0;
}

/* One entry at `*io_at`; 1: a member, 0: a folder. Its name is moved to where the
 * entry began, so that there is room for a NUL. */
static int take_entry(struct wr_zip *z, size_t len, size_t *io_at,
                      weir_err *err)
{
    struct wr_zip_member *m = &z->members[z->count];
    uint64_t *const wide[] = {&m->inflated, &m->stored, &m->head};
    uint8_t *e = z->directory + *io_at;
    size_t name, extra, whole;
    uint16_t flags, method;
    int r;

    if (len - *io_at < WR_ZIP_ENTRY_LEN || wr_le32(e) != WR_ZIP_ENTRY_SIG)
        return fail_damaged(err, "an entry of the directory is no entry");
    flags = wr_le16(e + 8);
    method = wr_le16(e + 10);
    name = wr_le16(e + 28);
    extra = wr_le16(e + 30);
    whole = WR_ZIP_ENTRY_LEN + name + extra + wr_le16(e + 32);
    if (whole > len - *io_at || !name || memchr(e + WR_ZIP_ENTRY_LEN, 0, name))
        return fail_damaged(err, "an entry of the directory has no name");
    *m = (struct wr_zip_member){.name = (const char *)e + 4,
                                .crc = wr_le32(e + 16),
                                .stored = wr_le32(e + 20),
                                .inflated = wr_le32(e + 24),
                                .head = wr_le32(e + 42),
                                .deflated = method == 8};
    if (!take_extra64(e + WR_ZIP_ENTRY_LEN + name, extra, wide))
        return fail_damaged(err, "sizes of 64 bits are missing");
    memmove(e + 4, e + WR_ZIP_ENTRY_LEN, name); /* over what has been read */
    e[4 + name] = '\0';
    *io_at += whole;
    r = check_member(m, flags, method, err);
    if (r < 0)
        return r;
    return m->name[name - 1] != '/';
}

static int parse_directory(struct wr_zip *z, const struct ends *e,
                           weir_err *err)
{
    /* Bytes may stand in front of the archive: all offsets are off by them. */
    uint64_t shift = e->at - e->size - e->offset;
    size_t at = 0;

    if (e->count > e->size / WR_ZIP_ENTRY_LEN)
        return fail_damaged(err, "the directory is too short");
    for (uint64_t k = 0; k < e->count; k++) {
        struct wr_zip_member *m = &z->members[z->count];
        int r = take_entry(z, e->size, &at, err);

        if (r < 0)
            return r;
        if (m->head > z->end || m->head + shift > z->end ||
            m->stored > z->end - (m->head + shift))
            return wr_fail(err, WEIR_EFORMAT,
                           "member '%s' reaches into the directory",
                           wr_show(m->name).text);
        m->head += shift;
        z->count += (size_t)r;
    }
    return 0;
}

int wr_zip_open(struct wr_object *o, uint64_t size, struct wr_zip *ret,
                weir_err *err)
{
    struct wr_zip z = {0};
    struct tail t = {0};
    struct ends e = {0};
    int r;

    r = read_ends(&t, o, size, &e, err);
    if (r == 0)
        r = read_directory(&t, o, &e, &z.directory, err);
    if (r < 0)
        goto out;
    z.end = e.at - e.size;
    z.members = calloc(e.count + 1, sizeof(*z.members));
    if (z.members)
        r = parse_directory(&z, &e, err);
    else
        r = wr_fail(err, WEIR_ENOMEM, "no memory for a ZIP directory");
    if (r < 0)
        goto out;
    *ret = z;
    z = (struct wr_zip){0};
out:
    free(t.bytes);
    wr_zip_done(&z);
    return r;
}

void wr_zip_done(struct wr_zip *z)
{
    free(z->members);
    free(z->directory);
    *z = (struct wr_zip){0};
}

int wr_zip_data(const struct wr_zip *z, const struct wr_zip_member *m,
                const uint8_t *head, size_t len, uint64_t *ret, weir_err *err)
{
    size_t name = strlen(m->name);
    uint64_t at;

    if (len < WR_ZIP_LOCAL_LEN + name || wr_le32(head) != WR_ZIP_LOCAL_SIG ||
        wr_le16(head + 26) != name ||
        memcmp(head + WR_ZIP_LOCAL_LEN, m->name, name) != 0 ||
        (wr_le16(head + 8) == 8) != m->deflated)
        return wr_fail(err, WEIR_EFORMAT,
                       "damaged ZIP file: at byte %" PRIu64 " is not the "
                       "header of member '%s'",
                       m->head, wr_show(m->name).text);
    at = m->head + WR_ZIP_LOCAL_LEN + name + wr_le16(head + 28);
    if (at > z->end || m->stored > z->end - at)
        return wr_fail(err, WEIR_EFORMAT,
                       "damaged ZIP file: member '%s' reaches into the "
                       "directory",
                       wr_show(m->name).text);
    *ret = at;
    return 0;
}
