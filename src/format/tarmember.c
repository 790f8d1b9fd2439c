/* tarmember.c - the members of a tar archive, one after the other.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A member is its own header with the data behind it, padded to blocks; in
 * front of it there may be headers whose data say its long name or its size
 * (GNU 'L', pax 'x'). Something wrong with those spoils the one member that
 * they belong to; a wrong checksum or size ends the archive, because nothing
 * says then where the next header is. */
#include "format/tarmember.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "format/writer.h"

/* Fields of a header: where they are, how long they are. */
#define NAME_LEN     100
#define MODE_AT      100
#define UID_AT       108
#define GID_AT       116
#define SIZE_AT      124
#define SIZE_LEN     12
#define MTIME_AT     136
#define SUM_AT       148
#define SUM_LEN      8
#define TYPE_AT      156
#define MAGIC_AT     257
#define MAX_OCTAL    ((UINT64_C(1) << 33) - 1) /* eleven digits */
#define MORE_AT      482 /* GNU sparse: blocks of holes follow */
#define MORE_NEXT_AT 504 /* the same in a block of holes */
#define PREFIX_AT    345
#define PREFIX_LEN   155

/* --- headers of tar archives: V7, ustar, GNU and pax --- */

/* Octal digits with blanks in front, ended by a blank, a NUL or the field; an
 * empty field is 0. False: something else, or more than 64 bits. */
static bool parse_octal(const uint8_t *p, size_t len, uint64_t *ret)
{
    uint64_t value = 0;
    size_t k = 0;

    while (k < len && p[k] == ' ')
        k++;
    for (; k < len && p[k] >= '0' && p[k] <= '7'; k++) {
        if (value >> 61)
            return false;
        value = value << 3 | (uint64_t)(p[k] - '0');
    }
    if (k < len && p[k] != ' ' && p[k] != '\0')
        return false;
    *ret = value;
    return true;
}

/* GNU: the first bit set, the others a big-endian number in two's
 * complement. A negative one (second bit set) is no size. */
static bool parse_base256(const uint8_t *p, size_t len, uint64_t *ret)
{
    uint64_t value = p[0] & 0x3f;

    if (p[0] & 0x40)
        return false;
    for (size_t k = 1; k < len; k++) {
        if (value >> 56)
            return false;
        value = value << 8 | p[k];
    }
    *ret = value;
    return true;
}

static bool parse_number(const uint8_t *p, size_t len, uint64_t *ret)
{
    return p[0] & 0x80 ? parse_base256(p, len, ret) : parse_octal(p, len, ret);
}

/* Bytes are unsigned says POSIX; some old programs summed signed ones. */
bool wr_tar_is_head(const uint8_t *block)
{
    uint64_t want, plain = 0;
    int64_t with_sign = 0;

    if (!parse_octal(block + SUM_AT, SUM_LEN, &want))
        return false;
    for (unsigned k = 0; k < WR_TAR_BLOCK; k++) {
        uint8_t b = k - SUM_AT < SUM_LEN ? ' ' : block[k];

        plain += b;
        with_sign += (int8_t)b;
    }
    return want == plain || (int64_t)want == with_sign;
}

static bool is_zero(const uint8_t *block)
{
    return !block[0] && !memcmp(block, block + 1, WR_TAR_BLOCK - 1);
}

/* Copies a field that may fill its room without a NUL; returns its length. */
static size_t copy_field(char *to, const uint8_t *from, size_t len)
{
    size_t n = strnlen((const char *)from, len);

    memcpy(to, from, n);
    to[n] = '\0';
    return n;
}

/* GNU keeps times where ustar keeps the prefix; its magic has blanks. */
static void parse_name(const uint8_t *block, char *name)
{
    size_t n = 0;

    if (!memcmp(block + MAGIC_AT, "ustar", 6))
        n = copy_field(name, block + PREFIX_AT, PREFIX_LEN);
    if (n)
        name[n++] = '/';
    copy_field(name + n, block, NAME_LEN);
}

static enum wr_tar_kind kind_of(char type)
{
    switch (type) {
    case '\0': /* V7 */
    case '0':
    case '7':
        return WR_TAR_FILE;
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
        return WR_TAR_EMPTY;
    case 'L':
        return WR_TAR_LONG_NAME;
    case 'K':
        return WR_TAR_LONG_LINK;
    case 'S':
        return WR_TAR_SPARSE;
    case 'x':
    case 'X': /* Solaris, before POSIX */
        return WR_TAR_PAX;
    case 'g':
        return WR_TAR_PAX_ALL;
    default:
        return WR_TAR_OTHER;
    }
}

int wr_tar_head_parse(const uint8_t *block, struct wr_tar_head *ret,
                      weir_err *err)
{
    struct wr_tar_head h = {.kind = WR_TAR_END};

    if (is_zero(block)) {
        *ret = h;
        return 0;
    }
    if (!wr_tar_is_head(block))
        return wr_fail(err, WEIR_EFORMAT, "header checksum mismatch");
    parse_name(block, h.name);
    if (!parse_number(block + SIZE_AT, SIZE_LEN, &h.size))
        return wr_fail(err, WEIR_EFORMAT, "'%.200s': its size is no number",
                       h.name);
    h.kind = kind_of((char)block[TYPE_AT]);
    h.more = h.kind == WR_TAR_SPARSE && block[MORE_AT];
    *ret = h;
    return 0;
}

bool wr_tar_sparse_more(const uint8_t *block)
{
    return block[MORE_NEXT_AT] != 0;
}

/* Decimal digits and nothing else, up to 64 bits. */
static bool parse_decimal(const char *p, size_t len, uint64_t *ret)
{
    uint64_t value = 0;

    if (!len)
        return false;
    for (size_t k = 0; k < len; k++)
        if (p[k] < '0' || p[k] > '9' ||
            __builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(p[k] - '0'), &value))
            return false;
    *ret = value;
    return true;
}

static int set_path(const char *value, size_t len, struct wr_tar_extra *io,
                    weir_err *err)
{
    if (len > WR_TAR_MAX_NAME)
        return wr_fail(err, WEIR_ELIMIT, "a name of %zu bytes (limit %u)", len,
                       WR_TAR_MAX_NAME);
    if (memchr(value, '\0', len))
        return wr_fail(err, WEIR_EFORMAT, "a name with a zero byte in it");
    memcpy(io->path, value, len);
    io->path[len] = '\0';
    io->has_path = len > 0;
    return 0;
}

static bool is_key(const char *key, size_t len, const char *want)
{
    return len == strlen(want) && !memcmp(key, want, len);
}

/* One record, behind its length: "key=value". */
static int set_record(const char *rec, size_t len, struct wr_tar_extra *io,
                      weir_err *err)
{
    const char *eq = memchr(rec, '=', len);
    size_t key_len, value_len;

    if (!eq || eq == rec)
        return wr_fail(err, WEIR_EFORMAT, "a pax record without a key");
    key_len = (size_t)(eq - rec);
    value_len = len - key_len - 1;
    if (is_key(rec, key_len, "path"))
        return set_path(eq + 1, value_len, io, err);
    if (is_key(rec, key_len, "size")) {
        io->has_size = value_len > 0;
        if (value_len && !parse_decimal(eq + 1, value_len, &io->size))
            return wr_fail(err, WEIR_EFORMAT,
                           "a pax record with a size that is no number");
    }
    if (key_len > 11 && !memcmp(rec, "GNU.sparse.", 11))
        io->sparse = true;
    return 0;
}

int wr_tar_pax_parse(const char *bytes, size_t len, struct wr_tar_extra *io,
                     weir_err *err)
{
    size_t pos = 0;

    while (pos < len && bytes[pos]) { /* some programs pad with zeros */
        const char *rec = bytes + pos;
        const char *blank = memchr(rec, ' ', len - pos);
        size_t digits = blank ? (size_t)(blank - rec) : 0;
        uint64_t n;
        int r;

        if (!parse_decimal(rec, digits, &n) || n > len - pos ||
            n < digits + 2 || rec[n - 1] != '\n')
            return wr_fail(err, WEIR_EFORMAT,
                           "a pax record with a wrong length");
        r = set_record(blank + 1, (size_t)n - digits - 2, io, err);
        if (r < 0)
            return r;
        pos += (size_t)n;
    }
    return 0;
}

int wr_tar_name_check(const char *name, weir_err *err)
{
    if (!*name)
        return wr_fail(err, WEIR_EFORMAT, "a member without a name");
    if (*name == '/')
        return wr_fail(err, WEIR_EFORMAT, "member '%.200s': an absolute name",
                       name);
    for (const char *p = name; *p;) {
        size_t n = strcspn(p, "/");

        if (n == 2 && p[0] == '.' && p[1] == '.')
            return wr_fail(err, WEIR_EFORMAT,
                           "member '%.200s': a name with '..' in it", name);
        p += n;
        p += *p == '/';
    }
    return 0;
}

/* --- writing --- */

/* Where a name is cut into prefix and name; 0: it fits as it is, SIZE_MAX: it
 * does not fit at all. */
static size_t split_name(const char *name)
{
    size_t len = strlen(name);

    if (len <= NAME_LEN)
        return 0;
    for (size_t cut = WR_MIN(len - 2, PREFIX_LEN); cut; cut--)
        if (name[cut] == '/')
            return len - cut - 1 <= NAME_LEN ? cut : SIZE_MAX;
    return SIZE_MAX;
}

/* Digits to the end of the field but one, which is a NUL. */
static void put_octal(uint8_t *field, size_t len, uint64_t value)
{
    for (size_t k = len - 1; k-- > 0; value >>= 3)
        field[k] = (uint8_t)('0' + (value & 7));
}

/* A header into a zeroed block; a name that does not fit is cut off, because
 * a pax header has it. */
static void format_head(uint8_t *block, char type, const char *name,
                        uint64_t size)
{
    size_t cut = split_name(name), len;
    unsigned sum = 0;

    if (cut && cut != SIZE_MAX) {
        memcpy(block + PREFIX_AT, name, cut);
        name += cut + 1;
    }
    len = strnlen(name, NAME_LEN);
    while (len && name[len - 1] == '/') /* would look like a folder */
        len--;
    memcpy(block, name, len);
    put_octal(block + MODE_AT, 8, 0644);
    put_octal(block + UID_AT, 8, 0);
    put_octal(block + GID_AT, 8, 0);
    put_octal(block + SIZE_AT, SIZE_LEN, size > MAX_OCTAL ? 0 : size);
    put_octal(block + MTIME_AT, 12, 0);
    block[TYPE_AT] = (uint8_t)type;
    memcpy(block + MAGIC_AT, "ustar\00000", 8);
    memset(block + SUM_AT, ' ', SUM_LEN);
    for (unsigned k = 0; k < WR_TAR_BLOCK; k++)
        sum += block[k];
    put_octal(block + SUM_AT, SUM_LEN - 1, sum);
    block[SUM_AT + SUM_LEN - 2] = '\0'; /* and a blank behind it */
}

/* "LEN key=value\n"; LEN counts itself. Returns the bytes that were written. */
static size_t put_record(char *to, const char *key, const char *value)
{
    size_t rest = strlen(key) + strlen(value) + 3, len = rest;

    for (size_t k = 0; k < 3; k++) /* its digits may make it longer */
        len = rest + (size_t)snprintf(NULL, 0, "%zu", len);
    return (size_t)sprintf(to, "%zu %s=%s\n", len, key, value);
}

static bool put_pax(struct wr_bytes *to, const char *name, uint64_t size)
{
    size_t cap = strlen(name) + 128;
    size_t room = WR_TAR_BLOCK + WR_ALIGN_UP(cap, (size_t)WR_TAR_BLOCK);
    uint8_t *p = wr_bytes_room(to, room);
    char digits[24];
    size_t len = 0;

    if (!p)
        return false;
    memset(p, 0, room);
    if (split_name(name) == SIZE_MAX)
        len += put_record((char *)p + WR_TAR_BLOCK, "path", name);
    snprintf(digits, sizeof(digits), "%" PRIu64, size);
    if (size > MAX_OCTAL)
        len += put_record((char *)p + WR_TAR_BLOCK + len, "size", digits);
    p[WR_TAR_BLOCK + len] = 0;
    format_head(p, 'x', "././@PaxHeader", len);
    to->len += WR_TAR_BLOCK + WR_ALIGN_UP(len, (size_t)WR_TAR_BLOCK);
    return true;
}

int wr_tar_put_head(struct wr_bytes *to, const char *name, uint64_t size,
                    weir_err *err)
{
    size_t start = to->len;
    uint8_t *p;

    if (strlen(name) > WR_TAR_MAX_NAME)
        return wr_fail(err, WEIR_ELIMIT, "a name of %zu bytes (limit %u)",
                       strlen(name), WR_TAR_MAX_NAME);
    if ((split_name(name) == SIZE_MAX || size > MAX_OCTAL) &&
        !put_pax(to, name, size))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    p = wr_bytes_room(to, WR_TAR_BLOCK);
    if (!p) {
        to->len = start;
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    memset(p, 0, WR_TAR_BLOCK);
    format_head(p, '0', name, size);
    to->len += WR_TAR_BLOCK;
    return 0;
}

struct wr_tar_walk {
    struct wr_shard_reader *in; /* borrowed */
    uint64_t stored_size;       /* 0: not known */
    uint64_t head;              /* where the header read last lies */
    uint64_t left;              /* bytes of data not read yet */
    uint64_t padding;           /* bytes behind them */
    struct wr_tar_extra all;    /* of pax headers for all members */
    struct wr_tar_extra extra;  /* for the next member */
    struct wr_tar_head header;
    bool is_flawed; /* the next member is of no use, for: */
    weir_err flaw;
    char *pax; /* owned: data of a pax header */
    size_t pax_cap;
};

int wr_tar_walk_new(struct wr_tar_walk **ret, struct wr_shard_reader *in,
                    uint64_t stored_size, weir_err *err)
{
    struct wr_tar_walk *w = calloc(1, sizeof(*w));

    if (!w)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    w->in = in;
    w->stored_size = stored_size;
    *ret = w;
    return 0;
}

void wr_tar_walk_free(struct wr_tar_walk *w)
{
    if (!w)
        return;
    free(w->pax);
    free(w);
}

static int fail_cut(const struct wr_tar_walk *w, weir_err *err)
{
    return wr_fail(err, WEIR_EFORMAT,
                   "truncated: the member at offset %" PRIu64
                   " is not all there",
                   w->head);
}

static int skip(struct wr_tar_walk *w, uint64_t n, weir_err *err)
{
    int64_t got = wr_shard_reader_skip(w->in, n, err);

    if (got < 0)
        return (int)got;
    return (uint64_t)got == n ? 0 : fail_cut(w, err);
}

int wr_tar_read(struct wr_tar_walk *w, void *buf, size_t len, weir_err *err)
{
    int64_t got = wr_shard_reader_read(w->in, buf, len, err);

    if (got < 0)
        return (int)got;
    if ((size_t)got != len)
        return fail_cut(w, err);
    w->left -= len;
    return 0;
}

int wr_tar_finish(struct wr_tar_walk *w, weir_err *err)
{
    int r = skip(w, w->left, err);

    if (r == 0)
        w->left = 0;
    return r;
}

/* The member is of no use, but what follows it can be found. */
static void set_flaw(struct wr_tar_walk *w, const weir_err *e)
{
    if (w->is_flawed) /* the first one says it */
        return;
    w->is_flawed = true;
    w->flaw = *e;
    wr_fail_prefix(&w->flaw, e->code, "offset %" PRIu64, w->head);
}

/* Data of `size` bytes follow: do they end inside the archive? */
static int set_data(struct wr_tar_walk *w, uint64_t size, weir_err *err)
{
    uint64_t at = wr_shard_reader_tell(w->in);
    size_t end;

    if (!wr_add_ok(at, size, &end) || end > INT64_MAX ||
        (w->stored_size && end > w->stored_size))
        return wr_fail(
            err, WEIR_EFORMAT,
            "offset %" PRIu64 ": member '%.200s' of %" PRIu64
            " bytes ends beyond the archive: truncated, or a wrong size",
            w->head, w->header.name, size);
    w->left = size;
    w->padding = WR_ALIGN_UP(size, (uint64_t)WR_TAR_BLOCK) - size;
    return 0;
}

/* The next header into w->header; its kind is WR_TAR_END at the end. */
static int read_head(struct wr_tar_walk *w, weir_err *err)
{
    uint8_t block[WR_TAR_BLOCK];
    int64_t got;
    int r;

    r = wr_tar_finish(w, err);
    if (r == 0)
        r = skip(w, w->padding, err);
    if (r < 0)
        return r;
    w->padding = 0;
    w->head = wr_shard_reader_tell(w->in);
    got = wr_shard_reader_read(w->in, block, sizeof(block), err);
    if (got < 0)
        return (int)got;
    if (got == 0)
        return wr_fail(err, WEIR_EFORMAT,
                       "offset %" PRIu64
                       ": no mark of the archive's end: it may be cut off",
                       w->head);
    if (got < (int64_t)sizeof(block))
        return fail_cut(w, err);
    r = wr_tar_head_parse(block, &w->header, err);
    if (r < 0)
        return wr_fail_prefix(err, r, "offset %" PRIu64, w->head);
    return 0;
}

/* GNU: the data are a name, with a NUL behind it. */
static int read_long_name(struct wr_tar_walk *w, weir_err *err)
{
    uint64_t len = w->left;
    weir_err e;
    int r;

    if (len > WR_TAR_MAX_NAME + 1) {
        wr_fail(&e, WEIR_ELIMIT, "a name of %" PRIu64 " bytes (limit %u)", len,
                WR_TAR_MAX_NAME);
        set_flaw(w, &e);
        return 0;
    }
    r = wr_tar_read(w, w->extra.path, WR_MIN(len, WR_TAR_MAX_NAME), err);
    if (r < 0)
        return r;
    w->extra.path[WR_MIN(len, WR_TAR_MAX_NAME)] = '\0';
    w->extra.has_path = w->extra.path[0] != '\0';
    return 0;
}

static int read_pax(struct wr_tar_walk *w, struct wr_tar_extra *to,
                    weir_err *err)
{
    uint64_t len = w->left;
    weir_err e;
    int r;

    if (len > WR_TAR_MAX_PAX) {
        wr_fail(&e, WEIR_ELIMIT, "a pax header of %" PRIu64 " bytes (limit %u)",
                len, WR_TAR_MAX_PAX);
        set_flaw(w, &e);
        return 0;
    }
    if (!wr_grow(&w->pax, &w->pax_cap, len + 1, 1))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_tar_read(w, w->pax, len, err);
    if (r < 0)
        return r;
    if (wr_tar_pax_parse(w->pax, len, to, &e) < 0)
        set_flaw(w, &e);
    return 0;
}

/* GNU: blocks that list holes, in front of the data; then it is passed over
 * as a member that is of no use. */
static int skip_holes(struct wr_tar_walk *w, weir_err *err)
{
    uint8_t block[WR_TAR_BLOCK];
    bool more = w->header.more;

    while (more) {
        int64_t got = wr_shard_reader_read(w->in, block, sizeof(block), err);

        if (got < 0)
            return (int)got;
        if (got < (int64_t)sizeof(block))
            return fail_cut(w, err);
        more = wr_tar_sparse_more(block);
    }
    return 0;
}

/* What a header in front of a member's own says. */
static int read_extra(struct wr_tar_walk *w, weir_err *err)
{
    int r = set_data(w, w->header.size, err);

    if (r < 0)
        return r;
    if (w->header.kind == WR_TAR_LONG_NAME)
        return read_long_name(w, err);
    if (w->header.kind == WR_TAR_PAX)
        return read_pax(w, &w->extra, err);
    if (w->header.kind == WR_TAR_PAX_ALL)
        return read_pax(w, &w->all, err);
    return 0; /* the target of a link */
}

static const char *member_name(const struct wr_tar_walk *w)
{
    const char *name = w->extra.has_path ? w->extra.path
                       : w->all.has_path ? w->all.path
                                         : w->header.name;

    while (name[0] == '.' && name[1] == '/')
        for (name += 2; *name == '/'; name++)
            ;
    return name;
}

static uint64_t member_size(const struct wr_tar_walk *w)
{
    return w->extra.has_size ? w->extra.size
           : w->all.has_size ? w->all.size
                             : w->header.size;
}

/* What was said of a member ends with it. */
static void forget(struct wr_tar_walk *w)
{
    w->extra.has_path = w->extra.has_size = w->extra.sparse = false;
    w->is_flawed = false;
}

/* Fills *ret from the member's own header and those in front; 0: it is no
 * file. */
static int set_member(struct wr_tar_walk *w, struct wr_tar_member *ret,
                      weir_err *err)
{
    uint64_t size = member_size(w);
    const char *name = member_name(w);
    weir_err e;
    int r;

    if (w->header.kind == WR_TAR_SPARSE) {
        r = skip_holes(w, err);
        if (r < 0)
            return r;
    }
    r = set_data(w, size, err);
    if (r < 0)
        return r;
    if (*name && name[strlen(name) - 1] == '/') {
        forget(w); /* V7 has no other folders */
        return 0;
    }
    if (wr_tar_name_check(name, &e) < 0)
        set_flaw(w, &e);
    if (w->header.kind == WR_TAR_SPARSE || w->extra.sparse || w->all.sparse) {
        wr_fail(&e, WEIR_ENOTSUP, "member '%.200s' is sparse", name);
        set_flaw(w, &e);
    }
    *ret = (struct wr_tar_member){.name = name,
                                  .offset = wr_shard_reader_tell(w->in),
                                  .size = size,
                                  .flaw = w->is_flawed ? &w->flaw : NULL};
    return 1;
}

int wr_tar_next(struct wr_tar_walk *w, struct wr_tar_member *ret, weir_err *err)
{
    int r;

    forget(w);
    for (;;) {
        r = read_head(w, err);
        if (r < 0 || w->header.kind == WR_TAR_END)
            return r;
        switch (w->header.kind) {
        case WR_TAR_FILE:
        case WR_TAR_SPARSE:
            r = set_member(w, ret, err);
            break;
        case WR_TAR_EMPTY:
            forget(w);
            break;
        case WR_TAR_OTHER:
            r = set_data(w, member_size(w), err);
            forget(w);
            break;
        default:
            r = read_extra(w, err);
            break;
        }
        if (r != 0)
            return r;
    }
}
