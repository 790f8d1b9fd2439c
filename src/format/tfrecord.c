/* tfrecord.c - TFRecord shards of tf.train.Example, plain or compressed.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A sample is a record with all that frames it. Indexing hops from header to
 * header; the data are checked when they are read. */
#include "format/tfrecord.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "base/units.h"
#include "codec/crc32c.h"
#include "format/example.h"
#include "format/format.h"
#include "format/shards.h"
#include "format/writer.h"

#define IDX_MAX        ((size_t)64 << 20) /* bytes of an .idx file */
#define NAME_MAX_BYTES 4096

/* --- names --- */

static size_t count_digits_back(const char *name, size_t end)
{
    size_t n = 0;

    while (n < end && name[end - 1 - n] >= '0' && name[end - 1 - n] <= '9')
        n++;
    return n;
}

/* "train-00003-of-01024" */
static bool is_numbered(const char *name, size_t len)
{
    size_t of = count_digits_back(name, len), k;

    if (!of || len - of < 4 || memcmp(name + len - of - 4, "-of-", 4) != 0)
        return false;
    len -= of + 4;
    k = count_digits_back(name, len);
    return k && k < len && name[len - k - 1] == '-';
}

static size_t length_unpacked(const char *name)
{
    size_t len = strlen(name);

    return wr_name_has_ext(name, ".gz")     ? len - 3
           : wr_name_has_ext(name, ".zlib") ? len - 5
                                            : len;
}

static bool is_numbered_name(const char *name)
{
    return is_numbered(name, length_unpacked(name));
}

/* --- framing --- */

bool wr_tfrecord_header(const uint8_t *header, uint64_t *ret_len)
{
    if (wr_crc32c_mask(wr_crc32c(0, header, 8)) != wr_le32(header + 8))
        return false;
    *ret_len = wr_le64(header);
    return true;
}

/* 1 or 0; negative: resources lacked to tell. */
static int starts_like_records(struct wr_store *st, const char *path)
{
    uint8_t head[WR_TFRECORD_HEADER];
    int64_t n = wr_shard_head(st, path, head, sizeof(head));
    uint64_t len;

    if (n < 0)
        return (int)n;
    return n == sizeof(head) && wr_tfrecord_header(head, &len);
}

/* --- an index beside the shard: lines of "offset length" --- */

struct idx {
    const char *at, *end; /* borrowed */
    uint64_t line;
    uint64_t offset, length; /* of the line read last */
};

static void skip_blanks(struct idx *x)
{
    while (x->at < x->end &&
           (*x->at == ' ' || *x->at == '\t' || *x->at == '\r'))
        x->at++;
}

/* 1: one more line, which goes on where the one before it ended; 0: the end;
 * negative: it does not describe a shard. */
static int idx_next(struct idx *x, weir_err *err)
{
    uint64_t expected = x->offset + x->length, offset = 0, length = 0;
    bool ok;

    if (x->at == x->end)
        return 0;
    x->line++;
    ok = wr_take_digits(&x->at, x->end, &offset);
    skip_blanks(x);
    ok = ok && wr_take_digits(&x->at, x->end, &length);
    skip_blanks(x);
    if (!ok || (x->at < x->end && *x->at != '\n'))
        return wr_fail(err, WEIR_EFORMAT,
                       "line %" PRIu64 " is not an offset and a length",
                       x->line);
    if (x->at < x->end)
        x->at++;
    if (offset != expected || length < WR_TFRECORD_EXTRA ||
        length > WR_RECORD_MAX || offset > UINT64_MAX - length)
        return wr_fail(err, WEIR_EFORMAT,
                       "line %" PRIu64 ": record at %" PRIu64 " of %" PRIu64
                       " bytes where one at %" PRIu64 " was to come",
                       x->line, offset, length, expected);
    x->offset = offset;
    x->length = length;
    return 1;
}

/* Every byte of the shard belongs to one record, or the file lies. */
static int idx_check(struct idx x, uint64_t size, weir_err *err)
{
    int r;

    while ((r = idx_next(&x, err)) > 0)
        ;
    if (r == 0 && x.offset + x.length != size)
        return wr_fail(err, WEIR_EFORMAT,
                       "ends at byte %" PRIu64 " of a shard of %" PRIu64
                       " bytes",
                       x.offset + x.length, size);
    return r;
}

static int idx_add(struct wr_shard *s, struct idx x, weir_err *err)
{
    int r;

    while ((r = idx_next(&x, err)) > 0) {
        r = wr_shard_add(s,
                         &(struct wr_record){.offset = x.offset,
                                             .length = x.length,
                                             .label = WEIR_NO_LABEL},
                         err);
        if (r < 0)
            return r;
    }
    return r;
}

/* "a.tfrecord" -> "a.tfrecord.idx", then "a.idx"; false when too long, or when
 * there is no ending to replace: that of "a.tfrecord-00000-of-00002" is not
 * one, or all shards had the same index. */
static bool idx_name(const char *path, unsigned attempt, char *buf, size_t cap)
{
    const char *dot = strrchr(path, '.');
    int len = (int)strlen(path), n;

    if (attempt && (!dot || is_numbered(path, strlen(path))))
        return false;
    n = snprintf(buf, cap, "%.*s.idx", attempt ? (int)(dot - path) : len, path);
    return n > 0 && (size_t)n < cap;
}

/* Uses the index file `name`. 1: done; 0: it is not used, and a note says
 * why; negative: the end of the scan. */
static int use_idx(struct wr_shard *s, const char *name,
                   const struct wr_stat *st, weir_err *err)
{
    char *text = NULL;
    struct idx x = {0};
    size_t len;
    weir_err e;
    int r;

    r = wr_shard_depends(s, name, st, err);
    if (r < 0)
        return r;
    r = wr_store_slurp(s->store, name, IDX_MAX, &text, &len, &e);
    if (r == 0) {
        x.at = text;
        x.end = text + len;
        r = idx_check(x, s->stat.size, &e);
    }
    if (r < 0) {
        free(text);
        wr_fail_prefix(&e, r, "index file not used");
        wr_shard_note(s, name, &e);
        return 0;
    }
    r = idx_add(s, x, err);
    free(text);
    return r < 0 ? r : 1;
}

static int find_idx(struct wr_shard *s, weir_err *err)
{
    char name[NAME_MAX_BYTES];

    if (wr_shard_reader_is_packed(s->reader))
        return 0; /* its offsets would be those of something else */
    for (unsigned k = 0; k < 2; k++) {
        struct wr_stat st;
        int r = idx_name(s->path, k, name, sizeof(name))
                    ? s->store->ops->stat(s->store, name, &st, err)
                    : WEIR_ENOENT;

        if (wr_index_fails(r))
            return r;
        if (r == 0 && st.kind == WR_KIND_FILE)
            return use_idx(s, name, &st, err);
    }
    return 0;
}

/* --- the pass over a shard --- */

static int fail_at(uint64_t n, uint64_t offset, const char *why, weir_err *err)
{
    return wr_fail(err, WEIR_EFORMAT,
                   "record %" PRIu64 " at offset %" PRIu64 ": %s", n, offset,
                   why);
}

static int fail_cut(uint64_t n, uint64_t offset, uint64_t have, uint64_t want,
                    weir_err *err)
{
    return wr_fail(err, WEIR_EFORMAT,
                   "record %" PRIu64 " at offset %" PRIu64
                   ": truncated: %" PRIu64 " of %" PRIu64 " bytes are present",
                   n, offset, have, want);
}

/* A record that the index cannot hold is left out, and said so. */
static int add_or_note(struct wr_shard *s, uint64_t n,
                       const struct wr_record *rec, weir_err *err)
{
    weir_err e;

    if (rec->length <= WR_RECORD_MAX)
        return wr_shard_add(s, rec, err);
    wr_fail(&e, WEIR_ELIMIT,
            "record %" PRIu64 " at offset %" PRIu64 ": %" PRIu64
            " bytes, over the limit",
            n, rec->offset, rec->length);
    wr_shard_note(s, s->path, &e);
    return 0;
}

/* Record n, which starts here. 1: added; 0: the end. */
static int scan_record(struct wr_shard *s, uint64_t n, weir_err *err)
{
    struct wr_record rec = {.offset = wr_shard_reader_tell(s->reader),
                            .label = WEIR_NO_LABEL};
    uint8_t head[WR_TFRECORD_HEADER];
    uint64_t len;
    int64_t got;
    int r;

    got = wr_shard_reader_read(s->reader, head, sizeof(head), err);
    if (got < 0)
        return wr_fail_prefix(err, (int)got,
                              "record %" PRIu64 " at offset %" PRIu64, n,
                              rec.offset);
    if (got == 0)
        return 0;
    if (got < WR_TFRECORD_HEADER)
        return fail_cut(n, rec.offset, (uint64_t)got, WR_TFRECORD_HEADER, err);
    if (!wr_tfrecord_header(head, &len))
        return fail_at(n, rec.offset, "length checksum mismatch", err);
    if (len > INT64_MAX - WR_TFRECORD_EXTRA)
        return fail_at(n, rec.offset, "absurd length", err);
    got = wr_shard_reader_skip(s->reader, len + 4, err);
    if (got < 0)
        return wr_fail_prefix(err, (int)got,
                              "record %" PRIu64 " at offset %" PRIu64, n,
                              rec.offset);
    rec.length = len + WR_TFRECORD_EXTRA;
    if ((uint64_t)got < len + 4)
        return fail_cut(n, rec.offset, WR_TFRECORD_HEADER + (uint64_t)got,
                        rec.length, err);
    r = add_or_note(s, n, &rec, err);
    return r < 0 ? r : 1;
}

static int scan_shard(struct wr_shard *s, weir_err *err)
{
    int r = find_idx(s, err);

    if (r != 0)
        return r < 0 ? r : 0;
    for (uint64_t n = 0; (r = scan_record(s, n, err)) > 0; n++)
        ;
    return r;
}

static int tfrecord_index(struct wr_index_job *job, weir_err *err)
{
    const struct wr_shard_scan scan = {.fn = scan_shard};
    struct wr_listing l = {0};
    int r;

    r = wr_files_list(job, &wr_format_tfrecord.files, &l, err);
    if (r == 0)
        r = wr_shards_index(job, &l, &scan, err);
    if (r == 0)
        r = wr_tfrecord_add_fields(job, err);
    wr_listing_done(&l);
    return r;
}

/* --- a sample --- */

int wr_tfrecord_check(const uint8_t *p, size_t len, weir_err *err)
{
    uint64_t data_len;

    if (len < WR_TFRECORD_EXTRA)
        return wr_fail(err, WEIR_EFORMAT, "%zu bytes are no record", len);
    if (!wr_tfrecord_header(p, &data_len))
        return wr_fail(err, WEIR_EFORMAT, "length checksum mismatch");
    if (data_len != len - WR_TFRECORD_EXTRA)
        return wr_fail(err, WEIR_EFORMAT,
                       "length %" PRIu64 " in a record of %zu bytes", data_len,
                       len);
    if (wr_crc32c_mask(wr_crc32c(0, p + WR_TFRECORD_HEADER,
                                 (size_t)data_len)) != wr_le32(p + len - 4))
        return wr_fail(err, WEIR_EFORMAT, "data checksum mismatch");
    return 0;
}

static int tfrecord_unpack(const struct wr_index *ix, unsigned column,
                           struct wr_sample *io, struct wr_unpack *out,
                           weir_err *err)
{
    int r = wr_tfrecord_check(io->bytes, io->len, err);

    (void)column; /* there is one */
    return r < 0 || !out ? r : wr_tfrecord_take_fields(ix, io, out, err);
}

const struct wr_format_ops wr_format_tfrecord = {
    .name = "tfrecord",
    .help = "TFRecord shards of tf.train.Example, plain, gzip or zlib",
    .looks = WR_TFRECORD_LOOK,
    .files = {.endings = ".tfrecord .tfrecord.gz .tfrecord.zlib "
                         ".tfrecords .tfrecords.gz .tfrecords.zlib",
              .named = 95,
              .is_name = is_numbered_name,
              .check = starts_like_records,
              .checked = 85,
              .folder = 80,
              .beside = idx_name},
    .index = tfrecord_index,
    .unpack = tfrecord_unpack,
};

/* Protobuf messages end at 2 GiB; readers refuse more. */
#define MESSAGE_MAX  ((size_t)INT32_MAX)
#define FEATURES_MAX 7
#define TAG(n, wire) ((uint8_t)((n) << 3 | (wire)))
#define WIRE_LEN     2
#define BYTES_LIST   1
#define INT64_LIST   3

/* --- samples -> TFRecord shards of tf.train.Example --- */

/* One feature: bytes in two parts (name and ending), or a number. */
struct put_feature {
    const char *key;
    unsigned list; /* BYTES_LIST or INT64_LIST */
    const void *bytes;
    size_t len;
    const char *ending; /* behind the bytes; "" for none */
    uint64_t number;
};

static size_t varint_size(uint64_t v)
{
    size_t n = 1;

    while (v >>= 7)
        n++;
    return n;
}

/* A field of `len` bytes: tag, length, body. All tags here are one byte. */
static size_t field_size(size_t len)
{
    return 1 + varint_size(len) + len;
}

static size_t value_size(const struct put_feature *f)
{
    return f->list == INT64_LIST ? varint_size(f->number)
                                 : f->len + strlen(f->ending);
}

static size_t list_size(const struct put_feature *f)
{
    return field_size(value_size(f));
}

static size_t entry_size(const struct put_feature *f)
{
    return field_size(strlen(f->key)) + field_size(field_size(list_size(f)));
}

static uint8_t *put_varint(uint8_t *p, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    return p;
}

static uint8_t *put_head(uint8_t *p, unsigned number, size_t len)
{
    *p++ = TAG(number, WIRE_LEN);
    return put_varint(p, len);
}

static uint8_t *put_bytes(uint8_t *p, const void *bytes, size_t len)
{
    if (len)
        memcpy(p, bytes, len);
    return p + len;
}

static uint8_t *put_feature(uint8_t *p, const struct put_feature *f)
{
    size_t key_len = strlen(f->key);

    p = put_head(p, 1, entry_size(f)); /* of the map */
    p = put_head(p, 1, key_len);
    p = put_bytes(p, f->key, key_len);
    p = put_head(p, 2, field_size(list_size(f))); /* the Feature */
    p = put_head(p, f->list, list_size(f));
    p = put_head(p, 1, value_size(f)); /* numbers are packed */
    if (f->list == INT64_LIST)
        return put_varint(p, f->number);
    p = put_bytes(p, f->bytes, f->len);
    return put_bytes(p, f->ending, strlen(f->ending));
}

static struct put_feature text_of(const char *key, const char *text,
                                  const char *ending)
{
    return (struct put_feature){.key = key,
                                .list = BYTES_LIST,
                                .bytes = text,
                                .len = strlen(text),
                                .ending = ending};
}

static struct put_feature number_of(const char *key, uint64_t number)
{
    return (struct put_feature){
        .key = key, .list = INT64_LIST, .number = number, .ending = ""};
}

/* In the order of their names, so that equal samples are equal bytes. */
static unsigned features_of(const struct wr_write_sample *s,
                            struct put_feature *f)
{
    enum wr_picture_kind kind = s->info.kind;
    unsigned n = 0;

    if (s->label != WEIR_NO_LABEL)
        f[n++] = number_of(WR_EXAMPLE_LABEL, s->label);
    if (s->class_name)
        f[n++] = text_of(WR_EXAMPLE_TEXT, s->class_name, "");
    f[n++] = (struct put_feature){.key = WR_EXAMPLE_ENCODED,
                                  .list = BYTES_LIST,
                                  .bytes = s->bytes,
                                  .len = s->len,
                                  .ending = ""};
    f[n++] = text_of(WR_EXAMPLE_FILENAME, s->key, wr_picture_kind_ext(kind));
    if (kind == WR_PICTURE_UNKNOWN)
        return n;
    f[n++] = text_of(WR_EXAMPLE_FORMAT, wr_picture_kind_name(kind), "");
    if (s->info.width && s->info.height) {
        f[n++] = number_of(WR_EXAMPLE_HEIGHT, s->info.height);
        f[n++] = number_of(WR_EXAMPLE_WIDTH, s->info.width);
    }
    return n;
}

static void put_record(uint8_t *p, const struct put_feature *f, unsigned count,
                       size_t features_len)
{
    size_t len = field_size(features_len);
    uint8_t *data = p + WR_TFRECORD_HEADER, *end;

    wr_le_put(p, len, 8);
    wr_le_put(p + 8, wr_crc32c_mask(wr_crc32c(0, p, 8)), 4);
    end = put_head(data, 1, features_len);
    for (unsigned k = 0; k < count; k++)
        end = put_feature(end, &f[k]);
    wr_le_put(end, wr_crc32c_mask(wr_crc32c(0, data, len)), 4);
}

static int tfrecord_add(struct wr_bytes *to, const struct wr_write_sample *s,
                        weir_err *err)
{
    struct put_feature f[FEATURES_MAX];
    unsigned count = features_of(s, f);
    size_t features_len = 0, total;
    uint8_t *p;

    if (s->len > MESSAGE_MAX)
        return wr_fail(err, WEIR_ELIMIT,
                       "'%s': %zu bytes do not fit into an Example", s->key,
                       s->len);
    for (unsigned k = 0; k < count; k++)
        features_len += field_size(entry_size(&f[k]));
    total = field_size(features_len) + WR_TFRECORD_EXTRA;
    if (total > MESSAGE_MAX)
        return wr_fail(err, WEIR_ELIMIT,
                       "'%s': an Example of %zu bytes is too long", s->key,
                       total);
    p = wr_bytes_room(to, total);
    if (!p)
        return wr_fail(err, WEIR_ENOMEM, "'%s': out of memory", s->key);
    put_record(p, f, count, features_len);
    to->len += total;
    return 0;
}

const struct wr_writer_ops wr_writer_tfrecord = {
    .name = "tfrecord",
    .ext = ".tfrecord",
    .add = tfrecord_add,
};
