/* example.c - tf.train.Example: the picture, label and key in it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/example.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "codec/picture.h"

/* Wire types of protobuf. */
enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_LEN = 2, WIRE_32 = 5 };

struct wire_span {
    const uint8_t *at; /* borrowed; NULL: there is none */
    size_t len;
};

struct wire_field {
    uint32_t number;
    unsigned wire;
    uint64_t value;        /* WIRE_VARINT */
    struct wire_span body; /* WIRE_LEN */
};

/* What a feature holds; the first value of its list. */
struct feature {
    enum { KIND_NONE, KIND_BYTES, KIND_FLOAT, KIND_INT } kind;
    bool has_value;
    struct wire_span bytes;
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
    NAME(WR_EXAMPLE_ENCODED),
    NAME("image"),
    NAME("image_raw"),
    NAME("jpeg"),
    NAME("png"),
    NAME("encoded"),
    NAME(WR_EXAMPLE_LABEL),
    NAME("label"),
    NAME("class"),
    NAME("cls"),
    NAME("image/label"),
    NAME(WR_EXAMPLE_FILENAME),
    NAME("filename"),
    NAME("__key__"),
};
enum { FIRST_LABEL = 6, FIRST_KEY = 11, KNOWN = WR_ARRAY_LEN(known) };

struct search {
    struct feature features[KNOWN];
    struct wire_span other;     /* a picture in a feature that is not known */
    struct wire_span other_key; /* the name of that feature */
    unsigned others;            /* how many such features */
};

/* --- protobuf --- */

static bool take_varint(struct wire_span *s, uint64_t *ret)
{
    uint64_t v = 0;

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

static bool take_bytes(struct wire_span *s, uint64_t n, struct wire_span *ret)
{
    if (n > s->len)
        return false;
    *ret = (struct wire_span){s->at, (size_t)n};
    s->at += n;
    s->len -= (size_t)n;
    return true;
}

/* The next field of a message; false when the bytes are no such thing. */
static bool take_field(struct wire_span *s, struct wire_field *ret)
{
    uint64_t tag, n;

    *ret = (struct wire_field){0};
    if (!take_varint(s, &tag) || tag >> 3 == 0 || tag >> 32)
        return false;
    ret->number = (uint32_t)(tag >> 3);
    ret->wire = (unsigned)(tag & 7);
    switch (ret->wire) {
    case WIRE_VARINT:
        return take_varint(s, &ret->value);
    case WIRE_64:
        return take_bytes(s, 8, &ret->body);
    case WIRE_32:
        return take_bytes(s, 4, &ret->body);
    case WIRE_LEN:
        return take_varint(s, &n) && take_bytes(s, n, &ret->body);
    default:
        return false; /* groups are long gone */
    }
}

/* The next field `number` that has a body; others are passed over. *ret is
 * {NULL} at the end; false when the bytes are damaged. */
static bool take_message(struct wire_span *s, uint32_t number,
                         struct wire_span *ret)
{
    struct wire_field f;

    while (s->len) {
        if (!take_field(s, &f))
            return false;
        if (f.number == number && f.wire == WIRE_LEN) {
            *ret = f.body;
            return true;
        }
    }
    *ret = (struct wire_span){0};
    return true;
}

/* --- features --- */

/* The first number of an Int64List, packed or not. */
static bool first_int(struct wire_span list, struct feature *ret)
{
    struct wire_field f;

    while (list.len) {
        if (!take_field(&list, &f))
            return false;
        if (f.number != 1 || ret->has_value)
            continue;
        if (f.wire == WIRE_VARINT) {
            ret->number = f.value;
            ret->has_value = true;
        } else if (f.wire == WIRE_LEN && f.body.len) {
            if (!take_varint(&f.body, &ret->number))
                return false;
            ret->has_value = true;
        }
    }
    return true;
}

static bool first_bytes(struct wire_span list, struct feature *ret)
{
    if (!take_message(&list, 1, &ret->bytes))
        return false;
    ret->has_value = ret->bytes.at != NULL;
    return true;
}

/* Of a Feature; the list that comes last counts, as in protobuf. */
static bool read_feature(struct wire_span s, struct feature *ret)
{
    struct wire_field f, last = {0};

    while (s.len) {
        if (!take_field(&s, &f))
            return false;
        if (f.wire == WIRE_LEN && f.number >= 1 && f.number <= 3)
            last = f;
    }
    memset(ret, 0, sizeof(*ret));
    switch (last.number) {
    case 1:
        ret->kind = KIND_BYTES;
        return first_bytes(last.body, ret);
    case 2:
        ret->kind = KIND_FLOAT;
        return true;
    case 3:
        ret->kind = KIND_INT;
        return first_int(last.body, ret);
    default:
        return true;
    }
}

/* One entry of the map: its key and its value, which may be missing. */
static bool read_entry(struct wire_span s, struct wire_span *ret_key,
                       struct wire_span *ret_value)
{
    struct wire_field f;

    *ret_key = *ret_value = (struct wire_span){0};
    while (s.len) {
        if (!take_field(&s, &f))
            return false;
        if (f.wire == WIRE_LEN && f.number == 1)
            *ret_key = f.body;
        else if (f.wire == WIRE_LEN && f.number == 2)
            *ret_value = f.body;
    }
    return true;
}

/* Some feature of another name: remembered if it looks like a picture. */
static void note_other(struct search *to, struct wire_span key,
                       const struct feature *f)
{
    bool again = to->others && key.len == to->other_key.len &&
                 (!key.len || !memcmp(key.at, to->other_key.at, key.len));

    if (f->kind != KIND_BYTES || !f->has_value ||
        wr_picture_probe(f->bytes.at, f->bytes.len) == WR_PICTURE_UNKNOWN)
        return;
    to->other = f->bytes;
    to->other_key = key;
    to->others += !again; /* of two with one name the last one counts */
}

static bool note_entry(struct search *to, struct wire_span entry)
{
    struct wire_span key, value;
    struct feature f;

    if (!read_entry(entry, &key, &value) || !read_feature(value, &f))
        return false;
    for (unsigned k = 0; k < KNOWN && key.len; k++)
        if (known[k].len == key.len &&
            !memcmp(known[k].text, key.at, key.len)) {
            to->features[k] = f;
            return true;
        }
    note_other(to, key, &f);
    return true;
}

/* Calls `fn` for each entry of each Features in the Example. */
static bool each_entry(struct wire_span example,
                       bool (*fn)(void *arg, struct wire_span entry), void *arg)
{
    struct wire_span features, entry;

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
            if (!fn(arg, entry))
                return false;
        }
    }
}

static bool search_entry(void *arg, struct wire_span entry)
{
    return note_entry(arg, entry);
}

/* --- what was found --- */

/* The best that looks like a picture; else the best that has bytes at all, of
 * which the decoder will say what is wrong with them. */
static struct wire_span pick_picture(const struct search *s)
{
    struct wire_span first = {0};

    for (unsigned k = 0; k < FIRST_LABEL; k++) {
        const struct feature *f = &s->features[k];

        if (f->kind != KIND_BYTES || !f->has_value)
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
    for (unsigned k = FIRST_LABEL; k < FIRST_KEY; k++) {
        const struct feature *f = &s->features[k];

        if (f->kind == KIND_INT && f->has_value)
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
        const struct feature *f = &s->features[k];

        if (f->kind != KIND_BYTES || !f->has_value || !f->bytes.len)
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

static bool name_entry(void *arg, struct wire_span entry)
{
    struct names *n = arg;
    struct wire_span key, value;

    if (!read_entry(entry, &key, &value))
        return false;
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

static int fail_no_picture(struct wire_span example, weir_err *err)
{
    struct names n = {.len = 0};

    each_entry(example, name_entry, &n);
    return wr_fail(err, WEIR_EFORMAT,
                   "no picture in the Example (features: %s)",
                   n.len ? n.text : "none");
}

int wr_example_parse(const void *bytes, size_t len, struct wr_example *ret,
                     weir_err *err)
{
    const struct wire_span example = {bytes, len};
    struct search s = {.others = 0};
    struct wire_span picture;

    if (!each_entry(example, search_entry, &s))
        return wr_fail(err, WEIR_EFORMAT, "not a tf.train.Example");
    picture = pick_picture(&s);
    if (!picture.at)
        return fail_no_picture(example, err);
    ret->picture = picture.at;
    ret->picture_len = picture.len;
    ret->label = pick_label(&s);
    pick_key(&s, ret);
    return 0;
}
