/* tfrecord_fields.c - features of TFRecord's Examples as fields.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the first records hold a picture, that is the field "image" and the
 * class number is "label", whatever their features are called; the other
 * features are extra. Else each feature is a field of its own name. */
#include "format/tfrecord.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/text.h"
#include "format/decode.h"
#include "format/example.h"
#include "format/guess.h"
#include "format/remarks.h"
#include "format/shard_reader.h"

#define LOOK_BYTES (UINT64_C(32) << 20)

/* A feature as the first records have it. */
struct seen_feature {
    char name[WR_FIELD_NAME];
    enum wr_feature_kind kind;
    uint64_t count;     /* values */
    unsigned records;   /* that have some; */
    unsigned last;      /* the last of them */
    bool varies;        /* in their number */
    bool picture;       /* each one looks like that */
    bool image;         /* the one that is searched for */
    const char *unread; /* static: why it is not read; NULL: it is */
};

struct seen_records {
    struct seen_feature *list; /* owned */
    size_t count, cap;
    unsigned records, pictures;
    bool unnamed; /* features that cannot be fields, by their name or number */
    bool sequence;
    const uint8_t *picture; /* of the record that is looked at */
    bool out_of_memory;
};

/* --- the first records --- */

static struct seen_feature *seen_of(struct seen_records *s,
                                    const struct wr_feature *f)
{
    struct seen_feature *x;

    for (size_t k = 0; k < s->count; k++)
        if (strlen(s->list[k].name) == f->name.len &&
            !memcmp(s->list[k].name, f->name.at, f->name.len))
            return &s->list[k];
    if (!wr_grow(&s->list, &s->cap, s->count + 1, sizeof(*s->list))) {
        s->out_of_memory = true;
        return NULL;
    }
    x = &s->list[s->count++];
    *x = (struct seen_feature){.kind = f->kind, .picture = true};
    memcpy(x->name, f->name.at, f->name.len);
    return x;
}

static bool note_feature(void *arg, const struct wr_feature *f)
{
    struct seen_records *s = arg;
    struct wr_pb_span bytes = {0};
    struct seen_feature *x;
    uint64_t count;

    if (f->kind == WR_FEATURE_NONE) /* as good as absent */
        return true;
    if (!f->name.len || f->name.len >= WR_FIELD_NAME ||
        memchr(f->name.at, '\0', f->name.len) || s->count >= WR_FIELD_MAX) {
        s->unnamed = true;
        return true;
    }
    x = seen_of(s, f);
    if (!x || !wr_feature_count(f, &count) ||
        (f->kind == WR_FEATURE_BYTES && !wr_feature_bytes(f, &bytes)))
        return false;
    if (x->kind != f->kind)
        x->unread = "of several kinds";
    else if (f->kind == WR_FEATURE_BYTES && count > 1)
        x->unread = "several values of bytes";
    if (f->kind == WR_FEATURE_BYTES && !count)
        return true;
    x->varies |= x->records && x->count != count;
    x->count = count;
    x->records += x->last != s->records;
    x->last = s->records;
    x->image |= bytes.at && bytes.at == s->picture;
    x->picture &= bytes.at &&
                  wr_picture_probe(bytes.at, bytes.len) != WR_PICTURE_UNKNOWN;
    return true;
}

static void look_at_record(struct seen_records *s, const uint8_t *bytes,
                           size_t len)
{
    const struct wr_pb_span example = {bytes + WR_TFRECORD_HEADER,
                                       len - WR_TFRECORD_EXTRA};
    struct wr_example ex;

    if (wr_example_read(example.at, example.len, &ex, NULL) < 0)
        return;
    s->picture = ex.picture;
    s->records++;
    s->pictures += ex.picture && wr_picture_probe(ex.picture, ex.picture_len) !=
                                     WR_PICTURE_UNKNOWN;
    s->sequence |= wr_features_are_sequence(example);
    wr_features_each(example, note_feature, s);
}

/* Reads sample i of the shard that `rd` stands in: 1, or 0 if it cannot be. */
static int read_record(struct wr_shard_reader *rd, const struct wr_part *p,
                       uint8_t *buf, weir_err *err)
{
    int64_t n = wr_shard_reader_skip(rd, p->offset - wr_shard_reader_tell(rd),
                                     err);

    if (n >= 0)
        n = wr_shard_reader_read(rd, buf, (size_t)p->length, err);
    if (wr_index_fails((int)n))
        return (int)n;
    return n == (int64_t)p->length &&
           wr_tfrecord_check(buf, (size_t)p->length, NULL) == 0;
}

static int look(struct seen_records *s, const struct wr_index *ix,
                struct wr_shard_reader *rd, weir_err *err)
{
    uint64_t n = WR_MIN(wr_index_count(ix), (uint64_t)WR_TFRECORD_LOOK),
             sum = 0;
    size_t cap = 0;
    uint8_t *buf = NULL;
    struct wr_part p;
    int r = 0;

    for (uint64_t i = 0; i < n && r >= 0; i++) {
        wr_index_part(ix, 0, i, &p);
        sum += p.length;
        if (p.object || sum > LOOK_BYTES + (i ? 0 : WR_FIELD_MAX_BYTES))
            break;
        if (!wr_grow(&buf, &cap, (size_t)p.length, 1))
            r = wr_fail(err, WEIR_ENOMEM, "out of memory");
        if (r >= 0)
            r = read_record(rd, &p, buf, err);
        if (r > 0)
            look_at_record(s, buf, (size_t)p.length);
    }
    free(buf);
    return WR_MIN(r, 0);
}

/* What cannot be read now is said when it is read as a sample. */
static int look_at_first(struct seen_records *s, struct wr_index_job *job,
                         weir_err *err)
{
    struct wr_shard_reader *rd = NULL;
    char path[4096];
    int r;

    if (!wr_index_count(job->index) ||
        wr_index_object_path(job->index, 0, path, sizeof(path)) >= sizeof(path))
        return 0;
    r = wr_shard_reader_open(&rd, job->store, path, err);
    if (r == 0)
        r = look(s, job->index, rd, err);
    wr_shard_reader_close(rd);
    if (s->out_of_memory)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    return wr_index_fails(r) ? r : 0;
}

/* --- their fields --- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct seen_feature *)a)->name,
                  ((const struct seen_feature *)b)->name);
}

static int add_searched(struct wr_index *ix, weir_err *err)
{
    struct wr_field fields[] = {
        wr_guess_field("image", WEIR_FIELD_PICTURE, WEIR_U8),
        wr_guess_field("label", WEIR_FIELD_SCALAR, WEIR_I64),
    };
    int r = 0;

    fields[1].pub.is_label = 1;
    for (int k = 0; k < 2 && r == 0; k++) {
        fields[k].unpacked = true;
        fields[k].scalar = WR_TFRECORD_SEARCHED;
        r = wr_index_add_field(ix, &fields[k], err);
    }
    return r;
}

static const struct seen_feature *find_seen(const struct seen_records *s,
                                            const char *name)
{
    int k = wr_named_text(s->list, s->count, sizeof(*s->list), name);

    return k < 0 ? NULL : &s->list[k];
}

/* What is to be the label, where no picture is: declared, or by its name. */
static const struct seen_feature *find_label(const struct seen_records *s,
                                             const char *schema)
{
    const struct seen_feature *x = NULL;
    char said[WR_FIELD_NAME];
    const char *name;

    if (wr_label_said(schema, said))
        return find_seen(s, said);
    for (unsigned k = 0; !x && (name = wr_label_name(WR_LABEL_FEATURE, k));
         k++) {
        x = find_seen(s, name);
        if (x && (x->kind != WR_FEATURE_INT || x->varies || x->count != 1))
            x = NULL;
    }
    return x;
}

/* `missing`: some records do not have it. */
static int add_feature(struct wr_index *ix, const struct seen_feature *x,
                       bool missing, bool extra, weir_err *err)
{
    bool bytes = x->kind == WR_FEATURE_BYTES;
    uint64_t count = x->varies || missing ? 0 : x->count;
    struct wr_field f = wr_guess_field(
        x->name,
        bytes        ? x->picture ? WEIR_FIELD_PICTURE : WEIR_FIELD_BYTES
        : count == 1 ? WEIR_FIELD_SCALAR
                     : WEIR_FIELD_TENSOR,
        x->kind == WR_FEATURE_INT ? WEIR_I64 : WEIR_F32);

    if (f.pub.kind == WEIR_FIELD_TENSOR)
        wr_guess_dims(&f, &count, 1);
    f.pub.is_extra = extra;
    f.unpacked = true;
    return wr_index_add_field(ix, &f, err);
}

/* The best feature that says the class, if there is one number of it. */
static void mark_label(struct wr_index *ix)
{
    const char *name;

    for (unsigned k = 0; (name = wr_label_name(WR_LABEL_FEATURE, k)); k++) {
        struct wr_field *f = wr_schema_find(wr_index_fields(ix), name);

        if (f && f->pub.kind == WEIR_FIELD_SCALAR && f->pub.dtype == WEIR_I64) {
            f->pub.is_label = 1;
            return;
        }
    }
}

static void remark_unread(struct wr_index *ix, const struct seen_records *s)
{
    char text[WR_REMARK_BYTES], shown[WR_FIELD_NAME * 4];
    size_t used = 0;

    for (size_t k = 0; k < s->count && used < 600; k++)
        if (s->list[k].unread)
            used += (size_t)snprintf(
                text + used, sizeof(text) - used, "%s'%.200s' (%s)",
                used ? ", " : "features that are not read: ",
                wr_text_show(s->list[k].name, true, shown, sizeof(shown)),
                s->list[k].unread);
    if (s->unnamed || used >= 600)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s",
                                 used ? ", and others"
                                      : "features that are not read: their "
                                        "names are too long, or too many");
    if (used)
        wr_index_add_remark(ix, text);
}

int wr_tfrecord_add_fields(struct wr_index_job *job, weir_err *err)
{
    struct wr_index *ix = job->index;
    const struct seen_feature *label = NULL; /* it may be missing */
    struct seen_records s = {0};
    bool by_name;
    int r = look_at_first(&s, job, err);

    by_name = s.records && !s.pictures;
    if (r == 0 && by_name && s.sequence)
        r = wr_fail(err, WEIR_ENOTSUP,
                    "the records are tf.train.SequenceExample, which is not "
                    "read: write them as tf.train.Example");
    if (r == 0 && !by_name)
        r = add_searched(ix, err);
    if (s.count)
        qsort(s.list, s.count, sizeof(*s.list), compare_names);
    if (by_name)
        label = find_label(&s, job->cfg->schema);
    for (size_t k = 0; k < s.count && r == 0; k++)
        if (!s.list[k].unread && (by_name || !s.list[k].image) &&
            !wr_schema_find(wr_index_fields(ix), s.list[k].name))
            r = add_feature(ix, &s.list[k],
                            s.list[k].records < s.records &&
                                &s.list[k] != label,
                            !by_name, err);
    remark_unread(ix, &s);
    if (r == 0 && by_name)
        mark_label(ix);
    free(s.list);
    return r;
}

/* --- a sample --- */

struct unpacking {
    const struct wr_schema *schema;
    struct wr_unpack *out;
    size_t need; /* bytes of scratch */
    size_t used;
    const struct wr_field *wrong; /* a feature that is of another kind */
    bool numbers;                 /* there are some */
    bool fill;
};

/* Is field k one that is looked for by its name? */
static bool is_named(const struct unpacking *u, unsigned k)
{
    const struct wr_field *x = &u->schema->fields[k];

    return (u->out->wanted[k] || x->pub.is_label) &&
           x->scalar != WR_TFRECORD_SEARCHED && x->column == 0;
}

static bool has_named(const struct unpacking *u)
{
    for (unsigned k = 0; k < u->schema->count; k++)
        if (is_named(u, k))
            return true;
    return false;
}

static const struct wr_field *field_of(const struct unpacking *u,
                                       const struct wr_feature *f)
{
    for (unsigned k = 0; k < u->schema->count; k++) {
        const struct wr_field *x = &u->schema->fields[k];

        if (is_named(u, k) && strlen(x->name) == f->name.len &&
            !memcmp(x->name, f->name.at, f->name.len))
            return x;
    }
    return NULL;
}

static bool is_of_kind(const struct wr_field *x, const struct wr_feature *f,
                       uint64_t count)
{
    switch (f->kind) {
    case WR_FEATURE_INT:
        return x->pub.dtype == WEIR_I64 && x->pub.kind != WEIR_FIELD_BYTES;
    case WR_FEATURE_FLOAT:
        return x->pub.dtype == WEIR_F32 && x->pub.kind != WEIR_FIELD_BYTES;
    case WR_FEATURE_BYTES:
        return count == 1 && x->pub.kind != WEIR_FIELD_SCALAR;
    default:
        return false;
    }
}

static bool take_feature(void *arg, const struct wr_feature *f)
{
    struct unpacking *u = arg;
    const struct wr_field *x = field_of(u, f);
    struct wr_pb_span bytes = {0};
    struct wr_slice *to;
    uint64_t count;

    if (!x)
        return true;
    if (!wr_feature_count(f, &count) ||
        (f->kind == WR_FEATURE_BYTES && !wr_feature_bytes(f, &bytes)))
        return false;
    to = &u->out->fields[x - u->schema->fields];
    *to = (struct wr_slice){0};
    u->wrong = u->wrong == x ? NULL : u->wrong; /* the last one counts */
    if (f->kind == WR_FEATURE_NONE || !count)
        return true;
    if (!is_of_kind(x, f, count)) {
        u->wrong = x;
        return true;
    }
    if (f->kind == WR_FEATURE_BYTES) {
        *to = (struct wr_slice){bytes.at, bytes.len};
        return true;
    }
    count *= f->kind == WR_FEATURE_INT ? 8 : 4; /* bytes: a value takes one at
                                                   least in the record */
    u->need += WR_ALIGN_UP((size_t)count, (size_t)8);
    u->numbers = true;
    if (!u->fill)
        return true;
    wr_feature_numbers(f, u->out->scratch + u->used);
    *to = (struct wr_slice){u->out->scratch + u->used, (size_t)count};
    u->used += WR_ALIGN_UP((size_t)count, (size_t)8);
    return true;
}

/* The class number by its search, or the value of the field that is it. */
static void set_label(struct unpacking *u, const struct wr_example *ex,
                      struct wr_sample *io)
{
    const struct wr_field *x = wr_schema_label(u->schema);
    struct wr_slice *to = x ? &u->out->fields[x - u->schema->fields] : NULL;
    int64_t value;

    if (x && x->scalar != WR_TFRECORD_SEARCHED) {
        io->label = x->pub.dtype == WEIR_I64
                        ? wr_label_of_bytes(to->bytes, to->len)
                        : WEIR_NO_LABEL;
        return;
    }
    if (ex->label == WEIR_NO_LABEL)
        return;
    io->label = ex->label;
    value = ex->label;
    if (to) {
        memcpy(u->out->scratch + u->used, &value, sizeof(value));
        *to = (struct wr_slice){u->out->scratch + u->used, sizeof(value)};
    }
}

/* What is absent is empty; only one number, a picture and so many numbers
 * cannot be that, unless it is the label. */
static int check_fields(const struct unpacking *u, weir_err *err)
{
    const struct wr_schema *s = u->schema;

    if (u->wrong)
        return wr_fail(err, WEIR_EFORMAT,
                       "feature '%s' is not what the first records have there",
                       u->wrong->name);
    for (unsigned k = 0; k < s->count; k++) {
        const weir_field *f = &s->fields[k].pub;
        bool empty = f->kind == WEIR_FIELD_BYTES ||
                     (f->kind == WEIR_FIELD_TENSOR && !wr_field_bytes(f));

        if (!u->out->wanted[k] || !is_named(u, k) || u->out->fields[k].bytes ||
            f->is_label)
            continue;
        if (!empty)
            return wr_fail(err, WEIR_EFORMAT, "no feature '%s' in the Example",
                           s->fields[k].name);
        u->out->fields[k].bytes = u->out->scratch;
    }
    return 0;
}

static int take_searched(const struct wr_schema *s, struct wr_unpack *out,
                         struct wr_pb_span example, struct wr_example *ex,
                         weir_err *err)
{
    for (unsigned k = 0; k < s->count; k++) {
        if (!out->wanted[k] || s->fields[k].scalar != WR_TFRECORD_SEARCHED ||
            s->fields[k].pub.is_label || s->fields[k].column != 0)
            continue;
        out->fields[k] = (struct wr_slice){ex->picture, ex->picture_len};
        if (!ex->picture) /* says what is there */
            return wr_example_parse(example.at, example.len, ex, err);
    }
    return 0;
}

/* An Example whose features are named as far as no field has them. */
struct left_features {
    const struct wr_schema *schema;
    const uint8_t *picture; /* that was searched for, whatever it is called */
    struct wr_left_out *left;
};

static bool name_left(void *arg, const struct wr_feature *f)
{
    const struct left_features *l = arg;
    struct wr_pb_span bytes = {0};

    if (f->kind == WR_FEATURE_NONE ||
        (f->kind == WR_FEATURE_BYTES && wr_feature_bytes(f, &bytes) &&
         bytes.at && bytes.at == l->picture))
        return true;
    for (unsigned k = 0; k < l->schema->count; k++)
        if (strlen(l->schema->fields[k].name) == f->name.len &&
            !memcmp(l->schema->fields[k].name, f->name.at, f->name.len))
            return true;
    wr_left_out_add(l->left, (const char *)f->name.at, f->name.len);
    return true;
}

int wr_tfrecord_take_fields(const struct wr_index *ix, struct wr_sample *io,
                            struct wr_unpack *out, weir_err *err)
{
    const struct wr_pb_span example = {io->bytes + WR_TFRECORD_HEADER,
                                       io->len - WR_TFRECORD_EXTRA};
    struct unpacking u = {.schema = wr_index_schema(ix), .out = out, .need = 8};
    struct wr_example ex;
    int r = wr_example_read(example.at, example.len, &ex, err);

    if (r < 0)
        return r;
    memset(out->fields, 0, u.schema->count * sizeof(*out->fields));
    if (out->left) {
        struct left_features l = {u.schema, ex.picture, out->left};

        wr_features_each(example, name_left, &l);
    }
    r = take_searched(u.schema, out, example, &ex, err);
    if (r < 0)
        return r;
    if (has_named(&u) && !wr_features_each(example, take_feature, &u))
        return wr_fail(err, WEIR_EFORMAT, "not a tf.train.Example");
    if (!wr_grow(&out->scratch, &out->cap, u.need, 1))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    u.fill = true;
    if (u.numbers)
        wr_features_each(example, take_feature, &u);
    set_label(&u, &ex, io);
    if (ex.key) {
        io->key = ex.key;
        io->key_len = ex.key_len;
    }
    return check_fields(&u, err);
}
