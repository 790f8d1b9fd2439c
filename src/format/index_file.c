/* index_file.c - an index into a file and back: docs/formats/index.md.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/index_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/regular.h"
#include "format/format.h"
#include "format/index.h"
#include "format/index_private.h"

/* How an index file is laid out: docs/formats/index.md. */
#define WR_INDEX_MAGIC        "WEIRIDX1"
#define WR_INDEX_BYTE_ORDER   0x01020304u /* another number in the other order */
#define WR_INDEX_ALIGN        64u         /* of sections */
#define WR_INDEX_CHECKED_FROM 16u /* the checksum is of all from here on */

/* The sections: arrays of the index, then what is not an array of it. */
enum {
    WR_INDEX_KEY = WR_INDEX_ARRAYS, /* text with its NUL */
    WR_INDEX_FORMAT,                /* text with its NUL */
    WR_INDEX_ISSUES,                /* struct wr_index_file_issue each */
    WR_INDEX_ISSUE_TEXTS,           /* texts, each with its NUL */
    WR_INDEX_FIELDS,                /* struct wr_index_file_field each */
    WR_INDEX_SECTIONS
};

/* A problem; name and reason are places in the texts. */
struct wr_index_file_issue {
    uint32_t name, reason;
    int32_t code;
    uint32_t zero;
};

enum {
    WR_INDEX_FIELD_LABEL = 1,
    WR_INDEX_FIELD_UNPACKED = 2,
    WR_INDEX_FIELD_STRIDED = 4,
    WR_INDEX_FIELD_SWAP = 8,
    WR_INDEX_FIELD_SCALED = 16,
    WR_INDEX_FIELD_EXTRA = 32,
    WR_INDEX_FIELD_TILED = 64
};

struct wr_index_file_field {
    char name[WR_FIELD_NAME], path[WR_FIELD_PATH];
    uint64_t dims[7], strides[7], tile[7];
    uint32_t kind, dtype, ndim, column, scalar, flags;
};

struct wr_index_file_section {
    uint64_t offset, bytes;
};

struct wr_index_file_header {
    char magic[8];
    uint64_t checksum;
    uint32_t version, byte_order;
    uint64_t file_bytes;
    uint64_t count, bytes, max_length, issue_count;
    uint32_t max_label_plus_1, sections;
    uint64_t declared, links;
    struct wr_index_file_section section[WR_INDEX_SECTIONS];
};

_Static_assert(sizeof(struct wr_index_file_header) ==
                   88 + 16 * WR_INDEX_SECTIONS,
               "the header has no holes");

#define MAP_FROM (1u << 20) /* bytes; smaller ones are read */

/* --- an index from its file: docs/formats/index.md --- */

uint64_t wr_index_file_checksum(const void *bytes, size_t len)
{
    return XXH3_64bits((const char *)bytes + WR_INDEX_CHECKED_FROM,
                       len - WR_INDEX_CHECKED_FROM);
}

/* NULL, or what is wrong with the header. */
static const char *check_header(const void *bytes, size_t len)
{
    const struct wr_index_file_header *h = bytes;
    uint64_t end = sizeof(*h);

    if (len < sizeof(*h) ||
        memcmp(h->magic, WR_INDEX_MAGIC, sizeof(h->magic)) != 0)
        return "not an index file";
    if (h->byte_order != WR_INDEX_BYTE_ORDER)
        return "written on a machine of another byte order";
    if (h->version != WR_INDEX_FILE_VERSION)
        return "another version of the format";
    if (h->file_bytes != len)
        return "truncated, or too long";
    if (h->checksum != wr_index_file_checksum(bytes, len))
        return "checksum mismatch";
    if (h->sections != WR_INDEX_SECTIONS)
        return "an impossible header";
    for (unsigned k = 0; k < WR_INDEX_SECTIONS; k++) {
        const struct wr_index_file_section *s = &h->section[k];
        size_t elem = k < WR_INDEX_ARRAYS ? wr_index_arrays[k].elem
                      : k == WR_INDEX_ISSUES
                          ? sizeof(struct wr_index_file_issue)
                      : k == WR_INDEX_FIELDS
                          ? sizeof(struct wr_index_file_field)
                          : 1;

        if (s->offset != WR_ALIGN_UP(end, (uint64_t)WR_INDEX_ALIGN) ||
            s->offset > len || s->bytes > len - s->offset ||
            s->bytes % elem != 0)
            return "a section is out of place";
        end = s->offset + s->bytes;
    }
    return end == len ? NULL : "bytes after the last section";
}

/* A section that is a text; NULL if it is none. */
static const char *text_section(const struct wr_index_file_header *h,
                                unsigned k)
{
    const char *text = (const char *)h + h->section[k].offset;
    size_t len = (size_t)h->section[k].bytes;

    return len && memchr(text, '\0', len) == text + len - 1 ? text : NULL;
}

static void point_arrays(struct wr_index *ix,
                         const struct wr_index_file_header *h)
{
    for (unsigned k = 0; k < WR_INDEX_ARRAYS; k++) {
        const char *at = (const char *)h + h->section[k].offset;
        size_t count = (size_t)h->section[k].bytes / wr_index_arrays[k].elem;

        memcpy((char *)ix + wr_index_arrays[k].array, &at, sizeof(at));
        memcpy((char *)ix + wr_index_arrays[k].count, &count, sizeof(count));
    }
    ix->totals = (struct wr_index_totals){
        .count = h->count,
        .bytes = h->bytes,
        .max_length = h->max_length,
        .max_label_plus_1 = h->max_label_plus_1,
    };
    ix->issue_count = h->issue_count;
    ix->declared = h->declared;
    ix->links = h->links;
}

static const char *unpack_field(struct wr_schema *s,
                                const struct wr_index_file_field *from)
{
    struct wr_field f = {
        .pub = {.kind = (enum weir_field_kind)from->kind,
                .dtype = (enum weir_dtype)from->dtype,
                .ndim = from->ndim,
                .is_label = from->flags & WR_INDEX_FIELD_LABEL,
                .is_extra = (from->flags & WR_INDEX_FIELD_EXTRA) != 0},
        .column = from->column,
        .scalar = from->scalar,
        .unpacked = from->flags & WR_INDEX_FIELD_UNPACKED,
        .strided = from->flags & WR_INDEX_FIELD_STRIDED,
        .scaled = from->flags & WR_INDEX_FIELD_SCALED,
        .swap = from->flags & WR_INDEX_FIELD_SWAP,
        .tiled = (from->flags & WR_INDEX_FIELD_TILED) != 0,
    };
    unsigned scalar = s->scalars;

    if (from->kind > WEIR_FIELD_SCALAR || !wr_dtype_bits(f.pub.dtype) ||
        !memchr(from->name, '\0', sizeof(from->name)) ||
        !memchr(from->path, '\0', sizeof(from->path)))
        return "a field of an unknown kind or type";
    memcpy(f.name, from->name, sizeof(f.name));
    memcpy(f.path, from->path, sizeof(f.path));
    memcpy(f.pub.dims, from->dims, sizeof(f.pub.dims));
    memcpy(f.strides, from->strides, sizeof(f.strides));
    memcpy(f.tile, from->tile, sizeof(f.tile));
    if (wr_schema_add(s, &f, NULL) < 0)
        return "the fields are not in order";
    return s->scalars == scalar || from->scalar == scalar
               ? NULL
               : "the scalars are not in order";
}

static const char *unpack_fields(struct wr_index *ix,
                                 const struct wr_index_file_header *h)
{
    const struct wr_index_file_section *s = &h->section[WR_INDEX_FIELDS];
    const struct wr_index_file_field *from = (const void *)((const char *)h +
                                                            s->offset);
    const char *why = NULL;

    for (size_t k = 0; k < s->bytes / sizeof(*from) && !why; k++)
        why = unpack_field(&ix->schema, &from[k]);
    wr_schema_seal(&ix->schema);
    return why;
}

static const char *unpack_issues(struct wr_index *ix,
                                 const struct wr_index_file_header *h)
{
    const struct wr_index_file_section *s = &h->section[WR_INDEX_ISSUES];
    const struct wr_index_file_section *t = &h->section[WR_INDEX_ISSUE_TEXTS];
    const struct wr_index_file_issue *from = (const void *)((const char *)h +
                                                            s->offset);
    const char *texts = (const char *)h + t->offset;
    size_t n = (size_t)s->bytes / sizeof(*from);

    if (n > WR_INDEX_MAX_ISSUES || (t->bytes && texts[t->bytes - 1] != '\0'))
        return "the problems are not in order";
    if (!n)
        return NULL;
    ix->issues = calloc(n, sizeof(*ix->issues));
    if (!ix->issues)
        return "out of memory";
    ix->issue_cap = n;
    for (size_t k = 0; k < n; k++) {
        if (from[k].name >= t->bytes || from[k].reason >= t->bytes ||
            from[k].code > 0)
            return "a problem's text is out of range";
        ix->issues[k] = (weir_issue){
            .name = texts + from[k].name,
            .reason = texts + from[k].reason,
            .code = from[k].code,
        };
    }
    ix->issue_kept = n;
    return NULL;
}

/* Points an index at the file in memory; NULL, or what is wrong with it. */
static const char *parse(struct wr_index *ix, const void *bytes, size_t len,
                         const char *key, const char **ret_format)
{
    const struct wr_index_file_header *h = bytes;
    const char *why = check_header(bytes, len);
    const struct wr_format_ops *ops;
    const char *has_key, *format;

    if (why)
        return why;
    has_key = text_section(h, WR_INDEX_KEY);
    format = text_section(h, WR_INDEX_FORMAT);
    if (!has_key || strcmp(has_key, key) != 0)
        return "the index of another data set";
    if (!format)
        return "no format";
    point_arrays(ix, h);
    if (!wr_index_find_columns(ix))
        return "the columns are not in order";
    why = unpack_fields(ix, h);
    if (!why)
        why = unpack_issues(ix, h);
    if (!why)
        why = wr_index_check(ix);
    ops = wr_format_find(format);
    if (!why && !(ops && ops->takes_root)) /* a list names what it likes */
        why = wr_index_check_below(ix);
    if (!why)
        *ret_format = format;
    return why;
}

/* Does a mapping stay good when the file is replaced? The kernel keeps a file
 * of this machine as long as it is mapped. A server forgets it, and touching
 * a page then that memory pressure took away ends the process. */
static bool keeps_mapped_files(int fd)
{
    static const unsigned long local[] = {
        BTRFS_SUPER_MAGIC,     EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC,
        OVERLAYFS_SUPER_MAGIC, TMPFS_MAGIC,      XFS_SUPER_MAGIC};
    struct statfs fs;

    if (fstatfs(fd, &fs) < 0)
        return false;
    for (unsigned k = 0; k < WR_ARRAY_LEN(local); k++)
        if ((unsigned long)fs.f_type == local[k])
            return true;
    return false;
}

/* All of the file in memory of its own. */
static int read_bytes(int fd, void *to, size_t len)
{
    ssize_t n = wr_pread_all(fd, to, len, 0);

    if (n < 0)
        return wr_error_from_errno((int)-n);
    return (size_t)n == len ? 0 : WEIR_EFORMAT; /* it got shorter */
}

/* The first bytes tell whether the rest is worth touching. */
static int check_start(int fd, size_t len)
{
    struct wr_index_file_header h;
    int r = len < sizeof(h) ? WEIR_EFORMAT : read_bytes(fd, &h, sizeof(h));

    if (r < 0)
        return r;
    return !memcmp(h.magic, WR_INDEX_MAGIC, sizeof(h.magic)) &&
                   h.file_bytes == len
               ? 0
               : WEIR_EFORMAT;
}

static int map_bytes(int fd, size_t len, void **ret)
{
    bool mapped = len >= MAP_FROM && keeps_mapped_files(fd);
    int flags = mapped ? MAP_PRIVATE | MAP_POPULATE
                       : MAP_PRIVATE | MAP_ANONYMOUS;
    void *map;
    int r;

    map = mmap(NULL, len, mapped ? PROT_READ : PROT_READ | PROT_WRITE, flags,
               mapped ? fd : -1, 0);
    if (map == MAP_FAILED)
        return wr_error_from_errno(errno);
    r = mapped ? 0 : read_bytes(fd, map, len);
    if (r < 0)
        munmap(map, len);
    else
        *ret = map;
    return r;
}

/* Not through the storage table, which knows no mappings: an index file is a
 * local file always. One that another user could change after it was checked,
 * or cut while it is mapped, is not opened. */
static int map_file(const char *path, void **ret, size_t *ret_len,
                    weir_err *err)
{
    struct stat sb;
    int fd, r = wr_own_open(path, O_RDONLY, 0, &fd, err);

    if (r < 0)
        return r;
    if (fstat(fd, &sb) < 0) {
        r = wr_fail_errno(err, errno, "'%s'", path);
        goto out;
    }
    r = check_start(fd, (size_t)sb.st_size);
    if (r == 0)
        r = map_bytes(fd, (size_t)sb.st_size, ret);
    if (r < 0)
        wr_fail(err, r, "'%s': %s", path,
                r == WEIR_EFORMAT ? "not an index file, or truncated"
                                  : weir_strerror(r));
    else
        *ret_len = (size_t)sb.st_size;
out:
    wr_fd_close(fd);
    return r;
}

int wr_index_parse(const void *bytes, size_t len, const char *key,
                   struct wr_index **ret, const char **ret_format,
                   weir_err *err)
{
    struct wr_index *ix = wr_index_new();
    const char *why;

    if (!ix)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    ix->borrowed = true;
    why = parse(ix, bytes, len, key, ret_format);
    if (why) {
        wr_index_free(ix);
        return wr_fail(err, WEIR_EFORMAT, "%s", why);
    }
    *ret = ix;
    return 0;
}

int wr_index_load(const char *path, const char *key, struct wr_index **ret,
                  const char **ret_format, weir_err *err)
{
    struct wr_index *ix = NULL;
    const char *format;
    size_t len = 0;
    void *map = NULL;
    int r;

    r = map_file(path, &map, &len, err);
    if (r < 0)
        return r;
    r = wr_index_parse(map, len, key, &ix, &format, err);
    if (r < 0) {
        munmap(map, len);
        return wr_fail_prefix(err, r, "'%s'", path);
    }
    ix->map = map;
    ix->map_len = len;
    ix->file = strdup(path);
    if (!ix->file) {
        wr_index_free(ix);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    *ret = ix;
    *ret_format = format;
    return 0;
}

/* What is written, section by section. */
struct image {
    struct wr_index_file_header head;
    const void *at[WR_INDEX_SECTIONS];  /* borrowed */
    struct wr_index_file_issue *issues; /* owned */
    char *texts;                        /* owned */
    size_t texts_len;
    struct wr_index_file_field *fields; /* owned */
};

static int pack_issues(struct image *im, const struct wr_index *ix)
{
    size_t cap = 0, need = 0;

    im->issues = calloc(ix->issue_kept + 1, sizeof(*im->issues));
    if (!im->issues)
        return WEIR_ENOMEM;
    for (size_t k = 0; k < ix->issue_kept; k++) {
        const weir_issue *i = &ix->issues[k];
        size_t name = strlen(i->name) + 1, reason = strlen(i->reason) + 1;

        if (!wr_add_ok(need, name + reason, &need) || need > UINT32_MAX)
            return WEIR_ELIMIT;
        if (!wr_grow(&im->texts, &cap, need, 1))
            return WEIR_ENOMEM;
        im->issues[k] = (struct wr_index_file_issue){
            .name = (uint32_t)im->texts_len,
            .reason = (uint32_t)(im->texts_len + name),
            .code = i->code,
        };
        memcpy(im->texts + im->texts_len, i->name, name);
        memcpy(im->texts + im->texts_len + name, i->reason, reason);
        im->texts_len = need;
    }
    return 0;
}

static int pack_fields(struct image *im, const struct wr_schema *s)
{
    im->fields = calloc((size_t)s->count + 1, sizeof(*im->fields));
    if (!im->fields)
        return WEIR_ENOMEM;
    for (unsigned k = 0; k < s->count; k++) {
        const struct wr_field *from = &s->fields[k];
        struct wr_index_file_field *to = &im->fields[k];

        memcpy(to->name, from->name, strlen(from->name));
        memcpy(to->path, from->path, strlen(from->path));
        memcpy(to->dims, from->pub.dims, from->pub.ndim * sizeof(to->dims[0]));
        if (from->strided)
            memcpy(to->strides, from->strides, sizeof(to->strides));
        if (from->tiled)
            memcpy(to->tile, from->tile, sizeof(to->tile));
        to->kind = from->pub.kind;
        to->dtype = from->pub.dtype;
        to->ndim = from->pub.ndim;
        to->column = from->column;
        to->scalar = from->scalar;
        to->flags = (from->pub.is_label ? WR_INDEX_FIELD_LABEL : 0u) |
                    (from->unpacked ? WR_INDEX_FIELD_UNPACKED : 0u) |
                    (from->strided ? WR_INDEX_FIELD_STRIDED : 0u) |
                    (from->scaled ? WR_INDEX_FIELD_SCALED : 0u) |
                    (from->swap ? WR_INDEX_FIELD_SWAP : 0u) |
                    (from->pub.is_extra ? WR_INDEX_FIELD_EXTRA : 0u) |
                    (from->tiled ? WR_INDEX_FIELD_TILED : 0u);
    }
    return 0;
}

static void add_section(struct image *im, unsigned k, const void *at,
                        size_t bytes)
{
    uint64_t end = k ? im->head.section[k - 1].offset +
                           im->head.section[k - 1].bytes
                     : sizeof(struct wr_index_file_header);

    im->at[k] = at;
    im->head.section[k] = (struct wr_index_file_section){
        WR_ALIGN_UP(end, (uint64_t)WR_INDEX_ALIGN), bytes};
    im->head.file_bytes = im->head.section[k].offset + bytes;
}

static void fill_header(struct wr_index_file_header *h,
                        const struct wr_index *ix)
{
    memcpy(h->magic, WR_INDEX_MAGIC, sizeof(h->magic));
    h->version = WR_INDEX_FILE_VERSION;
    h->byte_order = WR_INDEX_BYTE_ORDER;
    h->count = ix->totals.count;
    h->bytes = ix->totals.bytes;
    h->max_length = ix->totals.max_length;
    h->max_label_plus_1 = ix->totals.max_label_plus_1;
    h->issue_count = ix->issue_count;
    h->sections = WR_INDEX_SECTIONS;
    h->declared = ix->declared;
    h->links = ix->links;
}

static int make_image(struct image *im, const struct wr_index *ix,
                      const struct wr_index_about *about)
{
    int r = pack_issues(im, ix);

    if (r == 0)
        r = pack_fields(im, &ix->schema);
    if (r < 0)
        return r;
    fill_header(&im->head, ix);
    for (unsigned k = 0; k < WR_INDEX_ARRAYS; k++) {
        const char *base = (const char *)ix;
        size_t count;
        void *at;

        memcpy(&at, base + wr_index_arrays[k].array, sizeof(at));
        memcpy(&count, base + wr_index_arrays[k].count, sizeof(count));
        add_section(im, k, at, count * wr_index_arrays[k].elem);
    }
    add_section(im, WR_INDEX_KEY, about->key, strlen(about->key) + 1);
    add_section(im, WR_INDEX_FORMAT, about->format, strlen(about->format) + 1);
    add_section(im, WR_INDEX_ISSUES, im->issues,
                ix->issue_kept * sizeof(*im->issues));
    add_section(im, WR_INDEX_ISSUE_TEXTS, im->texts, im->texts_len);
    add_section(im, WR_INDEX_FIELDS, im->fields,
                ix->schema.count * sizeof(*im->fields));
    return 0;
}

static void image_done(struct image *im)
{
    free(im->fields);
    free(im->issues);
    free(im->texts);
    free(im);
}

/* Called for all bytes of the file in turn. */
typedef int (*emit_fn)(void *arg, const void *at, size_t len, weir_err *err);

static int emit_image(const struct image *im, emit_fn emit, void *arg,
                      weir_err *err)
{
    static const uint8_t zeros[WR_INDEX_ALIGN];
    uint64_t at = sizeof(im->head);
    int r = emit(arg, &im->head, sizeof(im->head), err);

    for (unsigned k = 0; k < WR_INDEX_SECTIONS && r == 0; k++) {
        const struct wr_index_file_section *s = &im->head.section[k];

        if (s->offset > at)
            r = emit(arg, zeros, (size_t)(s->offset - at), err);
        if (r == 0 && s->bytes)
            r = emit(arg, im->at[k], (size_t)s->bytes, err);
        at = s->offset + s->bytes;
    }
    return r;
}

struct hashing {
    XXH3_state_t *state; /* owned by the caller */
    size_t skip;         /* bytes that do not count */
};

static int emit_hash(void *arg, const void *at, size_t len, weir_err *err)
{
    struct hashing *h = arg;
    size_t skip = WR_MIN(h->skip, len);

    h->skip -= skip;
    XXH3_64bits_update(h->state, (const char *)at + skip, len - skip);
    return 0;
}

static int set_checksum(struct image *im)
{
    struct hashing h = {XXH3_createState(), WR_INDEX_CHECKED_FROM};

    if (!h.state)
        return WEIR_ENOMEM;
    XXH3_64bits_reset(h.state);
    emit_image(im, emit_hash, &h, NULL);
    im->head.checksum = XXH3_64bits_digest(h.state);
    XXH3_freeState(h.state);
    return 0;
}

struct writing {
    struct wr_object *object; /* borrowed */
    uint64_t at;
};

static int emit_write(void *arg, const void *at, size_t len, weir_err *err)
{
    struct writing *w = arg;
    int r = w->object->ops->write(w->object, at, len, w->at, err);

    w->at += len;
    return r;
}

static int write_image(const struct image *im, struct wr_store *st,
                       const char *name, weir_err *err)
{
    struct writing w = {0};
    int r, closed;

    r = st->ops->object_open(st, name, WR_OPEN_CREATE, &w.object, err);
    if (r < 0)
        return r;
    r = emit_image(im, emit_write, &w, err);
    closed = w.object->ops->close(w.object, /* sync= */ r == 0,
                                  r == 0 ? err : NULL);
    return r < 0 ? r : closed;
}

/* A name that no other builder takes and that nobody can foresee; should one
 * do so all the same, creating the file fails, and nothing is lost but this
 * side file. */
static void temp_name(const char *file, char *buf, size_t cap)
{
    uint64_t number;

    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
        number = wr_clock_ns() ^ (uint64_t)gettid() << 32;
    snprintf(buf, cap, "%s.%016" PRIx64 WR_INDEX_TEMP_SUFFIX, file, number);
}

int wr_index_save(const struct wr_index *ix, struct wr_store *st,
                  const char *file, const struct wr_index_about *about,
                  weir_err *err)
{
    struct image *im = calloc(1, sizeof(*im));
    char temp[512];
    int r;

    if (!im)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    temp_name(file, temp, sizeof(temp));
    r = make_image(im, ix, about);
    if (r == 0)
        r = set_checksum(im);
    if (r < 0) {
        wr_fail(err, r, "'%s': %s", file, weir_strerror(r));
        goto out;
    }
    r = write_image(im, st, temp, err);
    if (r == 0)
        r = st->ops->change(st, WR_RENAME, temp, file, err);
    if (r < 0 && r != WEIR_EEXIST)
        st->ops->change(st, WR_REMOVE, temp, NULL, NULL);
out:
    image_done(im);
    return r;
}
