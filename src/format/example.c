/* example.c - tf.train.Example: its features; the picture, label and key.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/example.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "codec/picture.h"
#include "format/guess.h"

/* --- fields of a protobuf message, read where they lie --- */

/* Wire types. */
enum { PB_VARINT = 0, PB_64 = 1, PB_LEN = 2, PB_32 = 5 };

struct pb_field {
    uint32_t number;
    unsigned wire;
    uint64_t value;         /* PB_VARINT */
    struct wr_pb_span body; /* the others */
};

/* Each takes its result off the front of `s`; false: the bytes are no such
 * thing. */
static bool take_varint(struct wr_pb_span *s, uint64_t *ret)
{
    uint64_t v = 0;

    if (s->len && *s->at < 0x80) { /* most are of one byte */
        *ret = *s->at;
        s->at++;
        s->len--;
        return true;
    }
    for (unsigned shift = 0; shift < 70 && s->len; shift += 7) {
        uint8_t b = *s->at;

        s->at++;
        s->len--;
        if (shift < 64)
            v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) {
            *ret = v;
            return true;
        }
    }
    return false;
}

static bool take_bytes(struct wr_pb_span *s, uint64_t n, struct wr_pb_span *ret)
{
    if (n > s->len)
        return false;
    *ret = (struct wr_pb_span){s->at, (size_t)n};
    s->at += n;
    s->len -= (size_t)n;
    return true;
}

static bool take_field(struct wr_pb_span *s, struct pb_field *ret)
{
    uint64_t tag, n;

    *ret = (struct pb_field){0};
    if (!take_varint(s, &tag) || tag >> 3 == 0 || tag >> 32)
        return false;
    ret->number = (uint32_t)(tag >> 3);
    ret->wire = (unsigned)(tag & 7);
    switch (ret->wire) {
    case PB_VARINT:
        return take_varint(s, &ret->value);
    case PB_64:
        return take_bytes(s, 8, &ret->body);
    case PB_32:
        return take_bytes(s, 4, &ret->body);
    case PB_LEN:
        return take_varint(s, &n) && take_bytes(s, n, &ret->body);
    default:
        return false; /* groups are long gone */
    }
}

/* The next field `number` that has a body; others are passed over. *ret is
 * {NULL} at the end. */
static bool take_message(struct wr_pb_span *s, uint32_t number,
                         struct wr_pb_span *ret)
{
    struct pb_field f;

    while (s->len) {
        if (!take_field(s, &f))
            return false;
        if (f.number == number && f.wire == PB_LEN) {
            *ret = f.body;
            return true;
        }
    }
    *ret = (struct wr_pb_span){0};
    return true;
}

/* --- the features of a tf.train.Example, by their names --- */

/* Of a Feature; the list that comes last counts, as in protobuf. */
static bool read_feature(struct wr_pb_span s, struct wr_feature *ret)
{
    struct pb_field f;

    while (s.len) {
        if (!take_field(&s, &f))
            return false;
        if (f.wire != PB_LEN || f.number < 1 || f.number > 3)
            continue;
        ret->list = f.body;
        ret->kind = (enum wr_feature_kind)f.number;
    }
    return true;
}

/* One entry of the map: its key and its value, which may be missing. */
static bool read_entry(struct wr_pb_span s, struct wr_feature *ret)
{
    struct wr_pb_span value = {0};
    struct pb_field f;

    *ret = (struct wr_feature){0};
    while (s.len) {
        if (!take_field(&s, &f))
            return false;
        if (f.wire == PB_LEN && f.number == 1)
            ret->name = f.body;
        else if (f.wire == PB_LEN && f.number == 2)
            value = f.body;
    }
    return read_feature(value, ret);
}

bool wr_features_each(struct wr_pb_span example,
                      bool (*fn)(void *arg, const struct wr_feature *f),
                      void *arg)
{
    struct wr_pb_span features, entry;
    struct wr_feature f;

    for (;;) {
        if (!take_message(&example, 1, &features))
            return false;
        if (!features.at)
            return true;
        for (;;) {
            if (!take_message(&features, 1, &entry))
                return false;
            if (!entry.at)
                break;
            if (!read_entry(entry, &f) || !fn(arg, &f))
                return false;
        }
    }
}

bool wr_features_are_sequence(struct wr_pb_span example)
{
    struct wr_pb_span lists;

    return take_message(&example, 2, &lists) && lists.at;
}

/* The values of one field of a list: packed ones, or one. */
static bool count_values(const struct wr_feature *f,
                         const struct pb_field *field, uint64_t *count)
{
    struct wr_pb_span body = field->body;
    uint64_t v;

    if (f->kind == WR_FEATURE_BYTES)
        *count += field->wire == PB_LEN;
    else if (f->kind == WR_FEATURE_FLOAT && field->wire == PB_LEN)
        *count += body.len / 4;
    else if (f->kind == WR_FEATURE_FLOAT)
        *count += field->wire == PB_32;
    else if (field->wire == PB_VARINT)
        *count += 1;
    else if (field->wire == PB_LEN)
        for (; body.len; ++*count)
            if (!take_varint(&body, &v))
                return false;
    return f->kind != WR_FEATURE_FLOAT || field->wire != PB_LEN ||
           body.len % 4 == 0;
}

bool wr_feature_count(const struct wr_feature *f, uint64_t *ret)
{
    struct wr_pb_span list = f->list;
    struct pb_field field;
    uint64_t count = 0;

    while (list.len) {
        if (!take_field(&list, &field) ||
            (field.number == 1 && !count_values(f, &field, &count)))
            return false;
    }
    *ret = count;
    return true;
}

bool wr_feature_bytes(const struct wr_feature *f, struct wr_pb_span *ret)
{
    struct wr_pb_span list = f->list;

    return take_message(&list, 1, ret);
}

static uint8_t *put_float(uint8_t *to, const uint8_t *from)
{
    uint32_t v = wr_le32(from);

    memcpy(to, &v, sizeof(v));
    return to + sizeof(v);
}

static uint8_t *put_int(uint8_t *to, uint64_t v)
{
    memcpy(to, &v, sizeof(v));
    return to + sizeof(v);
}

void wr_feature_numbers(const struct wr_feature *f, void *to)
{
    struct wr_pb_span list = f->list;
    struct pb_field field;
    uint8_t *at = to;
    uint64_t v;

    while (list.len && take_field(&list, &field)) {
        struct wr_pb_span *body = &field.body;

        if (field.number != 1)
            continue;
        if (f->kind == WR_FEATURE_FLOAT)
            for (; (field.wire == PB_LEN || field.wire == PB_32) &&
                   body->len >= 4;
                 body->at += 4, body->len -= 4)
                at = put_float(at, body->at);
        else if (field.wire == PB_VARINT)
            at = put_int(at, field.value);
        else if (field.wire == PB_LEN)
            while (body->len && take_varint(body, &v))
                at = put_int(at, v);
    }
}

/* --- tf.train.Example: the picture, label and key in it --- */

/* The first value of a feature. */
struct first_value {
    enum wr_feature_kind kind;
    bool has_value;
    struct wr_pb_span bytes;
    uint64_t number;
};

/* Features that mean something, the better one of each kind first. */
#define NAME(text)                                                             \
    {                                                                          \
        text, sizeof(text) - 1                                                 \
    }
static const struct {
    const char *text;
    size_t len;
} known[] = {
    /* those of labels are in guess.h */
    NAME(WR_EXAMPLE_ENCODED),
    NAME("image"),
    NAME("image_raw"),
    NAME("jpeg"),
    NAME("png"),
    NAME("encoded"),
    NAME(WR_EXAMPLE_FILENAME),
    NAME("filename"),
    NAME("__key__"),
};
enum { FIRST_KEY = 6, KNOWN = WR_ARRAY_LEN(known) };

struct search {
    struct first_value features[KNOWN];
    struct first_value labels[WR_LABEL_NAMES];
    struct wr_pb_span other;     /* a picture in a feature that is not known */
    struct wr_pb_span other_key; /* the name of that feature */
    unsigned others;             /* how many such features */
};

/* --- features --- */

/* The first value of a feature that means something. */
static bool read_first(const struct wr_feature *from, struct first_value *ret)
{
    struct wr_pb_span list = from->list;
    struct pb_field f;

    *ret = (struct first_value){.kind = from->kind};
    if (from->kind == WR_FEATURE_BYTES) {
        if (!wr_feature_bytes(from, &ret->bytes))
            return false;
        ret->has_value = ret->bytes.at != NULL;
    }
    while (from->kind == WR_FEATURE_INT && list.len) {
        if (!take_field(&list, &f))
            return false;
        if (f.number != 1 || ret->has_value)
            continue;
        ret->has_value = f.wire == PB_VARINT ||
                         (f.wire == PB_LEN && f.body.len);
        ret->number = f.value;
        if (f.wire == PB_LEN && f.body.len &&
            !take_varint(&f.body, &ret->number))
            return false;
    }
    return true;
}

/* Some feature of another name: remembered if it looks like a picture. */
static void note_other(struct search *to, struct wr_pb_span key,
                       const struct first_value *f)
{
    bool again = to->others && key.len == to->other_key.len &&
                 (!key.len || !memcmp(key.at, to->other_key.at, key.len));

    if (f->kind != WR_FEATURE_BYTES || !f->has_value ||
        wr_picture_probe(f->bytes.at, f->bytes.len) == WR_PICTURE_UNKNOWN)
        return;
    to->other = f->bytes;
    to->other_key = key;
    to->others += !again; /* of two with one name the last one counts */
}

/* Where a feature of this name goes; NULL: it is not known. */
static struct first_value *place_of(struct search *to, struct wr_pb_span name)
{
    for (unsigned k = 0; k < KNOWN && name.len; k++)
        if (known[k].len == name.len &&
            !memcmp(known[k].text, name.at, name.len))
            return &to->features[k];
    for (unsigned k = 0; k < WR_LABEL_NAMES && name.len; k++)
        if (wr_label_names[k].len == name.len &&
            wr_label_names[k].places & WR_LABEL_FEATURE &&
            !memcmp(wr_label_names[k].text, name.at, name.len))
            return &to->labels[k];
    return NULL;
}

static bool note_entry(void *arg, const struct wr_feature *from)
{
    struct search *to = arg;
    struct first_value f, *place;

    if (!read_first(from, &f))
        return false;
    place = place_of(to, from->name);
    if (place)
        *place = f;
    else
        note_other(to, from->name, &f);
    return true;
}

/* --- what was found --- */

/* The best that looks like a picture; else the best that has bytes at all, of
 * which the decoder will say what is wrong with them. */
static struct wr_pb_span pick_picture(const struct search *s)
{
    struct wr_pb_span first = {0};

    for (unsigned k = 0; k < FIRST_KEY; k++) {
        const struct first_value *f = &s->features[k];

        if (f->kind != WR_FEATURE_BYTES || !f->has_value)
            continue;
        if (wr_picture_probe(f->bytes.at, f->bytes.len) != WR_PICTURE_UNKNOWN)
            return f->bytes;
        if (!first.at)
            first = f->bytes;
    }
    if (s->others == 1)
        return s->other;
    return first;
}

static uint32_t pick_label(const struct search *s)
{
    for (unsigned k = 0; k < WR_LABEL_NAMES; k++) {
        const struct first_value *f = &s->labels[k];

        if (f->kind == WR_FEATURE_INT && f->has_value)
            return f->number < WEIR_NO_LABEL ? (uint32_t)f->number
                                             : WEIR_NO_LABEL;
    }
    return WEIR_NO_LABEL;
}

static size_t stem_length(const char *name, size_t len)
{
    if (wr_picture_kind_of_name(name, len) == WR_PICTURE_UNKNOWN)
        return len;
    while (name[len - 1] != '.')
        len--;
    return len - 1;
}

static void pick_key(const struct search *s, struct wr_example *ret)
{
    for (unsigned k = FIRST_KEY; k < KNOWN; k++) {
        const struct first_value *f = &s->features[k];

        if (f->kind != WR_FEATURE_BYTES || !f->has_value || !f->bytes.len)
            continue;
        ret->key = (const char *)f->bytes.at;
        ret->key_len = stem_length(ret->key, f->bytes.len);
        return;
    }
    ret->key = NULL;
    ret->key_len = 0;
}

struct names {
    char text[200];
    size_t len;
};

static bool name_entry(void *arg, const struct wr_feature *f)
{
    const struct wr_pb_span key = f->name;
    struct names *n = arg;

    if (n->len + 8 > sizeof(n->text))
        return true;
    if (n->len) {
        n->text[n->len++] = ',';
        n->text[n->len++] = ' ';
    }
    for (size_t k = 0; k < key.len && n->len + 5 < sizeof(n->text); k++) {
        uint8_t c = key.at[k];

        n->text[n->len++] = c >= 0x20 && c < 0x7f ? (char)c : '?';
    }
    if (n->len + 5 >= sizeof(n->text)) {
        memcpy(n->text + n->len, "...", 3);
        n->len = sizeof(n->text) - 1;
    }
    return true;
}

static int fail_no_picture(struct wr_pb_span example, weir_err *err)
{
    struct names n = {.len = 0};

    wr_features_each(example, name_entry, &n);
    return wr_fail(err, WEIR_EFORMAT,
                   "no picture in the Example (features: %s)",
                   n.len ? n.text : "none");
}

int wr_example_read(const void *bytes, size_t len, struct wr_example *ret,
                    weir_err *err)
{
    const struct wr_pb_span example = {bytes, len};
    struct search s = {.others = 0};
    struct wr_pb_span picture;

    if (!wr_features_each(example, note_entry, &s))
        return wr_fail(err, WEIR_EFORMAT, "not a tf.train.Example");
    picture = pick_picture(&s);
    ret->picture = picture.at;
    ret->picture_len = picture.len;
    ret->label = pick_label(&s);
    pick_key(&s, ret);
    return 0;
}

int wr_example_parse(const void *bytes, size_t len, struct wr_example *ret,
                     weir_err *err)
{
    struct wr_example ex;
    int r = wr_example_read(bytes, len, &ex, err);

    if (r == 0 && !ex.picture)
        r = fail_no_picture((struct wr_pb_span){bytes, len}, err);
    if (r == 0)
        *ret = ex;
    return r;
}
