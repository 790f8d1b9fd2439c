/* zip.c - ZIP files: where the bytes of members lie; what one is written with.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/zip.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "base/shown.h"

/* Signatures and lengths of records. */
#define END_SIG     0x06054b50u /* end of the directory */
#define END_LEN     22u
#define END64_SIG   0x06064b50u
#define END64_LEN   56u
#define LOCATOR_SIG 0x07064b50u /* where the record of 64 bits lies */
#define LOCATOR_LEN 20u
#define ENTRY_SIG   0x02014b50u /* of the directory */
#define ENTRY_LEN   46u
#define LOCAL_SIG   0x04034b50u /* in front of a member */
#define LOCAL_LEN   30u
#define EXTRA64     1u /* tag of the extra field with 64-bit sizes */

/* --- the directory of a ZIP file: where the members' bytes lie --- */

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
    for (size_t k = t->len >= END_LEN ? t->len - END_LEN + 1 : 0; k-- > 0;)
        if (wr_le32(t->bytes + k) == END_SIG &&
            k + END_LEN + wr_le16(t->bytes + k + 20) == t->len)
            return (int64_t)k;
    return -1;
}

static int read_end64(const struct tail *t, struct wr_object *o,
                      uint64_t locator, struct ends *io, weir_err *err)
{
    const uint8_t *l = t->bytes + (locator - t->at);
    uint64_t at = wr_le64(l + 8);
    uint8_t end[END64_LEN];
    int r;

    if (wr_le32(l + 4) != 0 || wr_le32(l + 16) > 1)
        return wr_fail(err, WEIR_ENOTSUP, "a ZIP file over several disks");
    if (locator < END64_LEN)
        return fail_damaged(err, "no room for the 64-bit end record");
    /* Bytes may have been put in front of the archive since. */
    if (at > locator - END64_LEN)
        return fail_damaged(err, "the 64-bit end record is not in the file");
    r = wr_object_read_fully(o, end, sizeof(end), at, err);
    if (r < 0)
        return r;
    if (wr_le32(end) != END64_SIG) {
        at = locator - END64_LEN;
        r = wr_object_read_fully(o, end, sizeof(end), at, err);
        if (r < 0)
            return r;
        if (wr_le32(end) != END64_SIG)
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
    if (k < LOCATOR_LEN && t->at) { /* a long comment */
        size_t most = END_LEN + LOCATOR_LEN + COMMENT_MAX;

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
    if (k >= LOCATOR_LEN && wr_le32(end - LOCATOR_LEN) == LOCATOR_SIG)
        r = read_end64(t, o, ret->at - LOCATOR_LEN, ret, err);
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
        if (wr_le16(extra + from - 4) != EXTRA64)
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

    if (len - *io_at < ENTRY_LEN || wr_le32(e) != ENTRY_SIG)
        return fail_damaged(err, "an entry of the directory is no entry");
    flags = wr_le16(e + 8);
    method = wr_le16(e + 10);
    name = wr_le16(e + 28);
    extra = wr_le16(e + 30);
    whole = ENTRY_LEN + name + extra + wr_le16(e + 32);
    if (whole > len - *io_at || !name || memchr(e + ENTRY_LEN, 0, name))
        return fail_damaged(err, "an entry of the directory has no name");
    *m = (struct wr_zip_member){.name = (const char *)e + 4,
                                .crc = wr_le32(e + 16),
                                .stored = wr_le32(e + 20),
                                .inflated = wr_le32(e + 24),
                                .head = wr_le32(e + 42),
                                .deflated = method == 8};
    if (!take_extra64(e + ENTRY_LEN + name, extra, wide))
        return fail_damaged(err, "sizes of 64 bits are missing");
    memmove(e + 4, e + ENTRY_LEN, name); /* over what has been read */
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

    if (e->count > e->size / ENTRY_LEN)
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

    if (len < LOCAL_LEN + name || wr_le32(head) != LOCAL_SIG ||
        wr_le16(head + 26) != name ||
        memcmp(head + LOCAL_LEN, m->name, name) != 0 ||
        (wr_le16(head + 8) == 8) != m->deflated)
        return wr_fail(err, WEIR_EFORMAT,
                       "damaged ZIP file: at byte %" PRIu64 " is not the "
                       "header of member '%s'",
                       m->head, wr_show(m->name).text);
    at = m->head + LOCAL_LEN + name + wr_le16(head + 28);
    if (at > z->end || m->stored > z->end - at)
        return wr_fail(err, WEIR_EFORMAT,
                       "damaged ZIP file: member '%s' reaches into the "
                       "directory",
                       wr_show(m->name).text);
    *ret = at;
    return 0;
}

/* --- what stands around the members of a ZIP file --- */

#define VERSION     45u         /* that knows sizes of 64 bits */
#define DATE        0x00210000u /* the first day of 1980: no clock in the bytes */
#define LOCAL_EXTRA 20u         /* two sizes */
#define ENTRY_EXTRA 28u         /* and an offset */
#define WIDE        UINT32_MAX /* look at the extra field */

size_t wr_zip_local_len(const char *name)
{
    return LOCAL_LEN + strlen(name) + LOCAL_EXTRA;
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
    wr_le_put(p, EXTRA64, 2);
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
    wr_le_put(p, LOCAL_SIG, 4);
    put_common(p + 4, m, LOCAL_EXTRA);
    memcpy(p + LOCAL_LEN, m->name, name);
    put_extra(p + LOCAL_LEN + name, m, LOCAL_EXTRA);
    return 0;
}

static int put_entry(struct wr_bytes *to, const struct wr_zip_member *m,
                     weir_err *err)
{
    size_t name = strlen(m->name);
    uint8_t *p = room(to, ENTRY_LEN + name + ENTRY_EXTRA, err);

    if (!p)
        return WEIR_ENOMEM;
    wr_le_put(p, ENTRY_SIG, 4);
    wr_le_put(p + 4, VERSION, 2);
    put_common(p + 6, m, ENTRY_EXTRA);
    wr_le_put(p + 38, 0600u << 16, 4); /* rights, as Python gives */
    wr_le_put(p + 42, WIDE, 4);
    memcpy(p + ENTRY_LEN, m->name, name);
    put_extra(p + ENTRY_LEN + name, m, ENTRY_EXTRA);
    return 0;
}

static int put_ends(struct wr_bytes *to, uint64_t at, uint64_t size,
                    size_t count, weir_err *err)
{
    uint8_t *p = room(to, END64_LEN + LOCATOR_LEN + END_LEN, err);

    if (!p)
        return WEIR_ENOMEM;
    wr_le_put(p, END64_SIG, 4);
    wr_le_put(p + 4, END64_LEN - 12, 8);
    wr_le_put(p + 12, VERSION, 2);
    wr_le_put(p + 14, VERSION, 2);
    wr_le_put(p + 24, count, 8);
    wr_le_put(p + 32, count, 8);
    wr_le_put(p + 40, size, 8);
    wr_le_put(p + 48, at, 8);
    p += END64_LEN;
    wr_le_put(p, LOCATOR_SIG, 4);
    wr_le_put(p + 8, at + size, 8);
    wr_le_put(p + 16, 1, 4);
    p += LOCATOR_LEN;
    wr_le_put(p, END_SIG, 4);
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
