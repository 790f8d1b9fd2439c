/* index_load.c - an index from its file: docs/formats/index.md.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/index_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/descriptors.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/regular.h"
#include "format/format.h"
#include "format/index_check.h"
#include "format/index_file_private.h"

#define MAP_FROM (1u << 20) /* bytes; smaller ones are read */

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
