/* guess.c - what a name and some values say: a label, and what kind of field.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/guess.h"

#include <stdio.h>
#include <string.h>

/* --- the label, by its name --- */

#define COLUMN  WR_LABEL_COLUMN
#define BESIDE  (WR_LABEL_BESIDE | WR_LABEL_FEATURE)
#define FEATURE WR_LABEL_FEATURE
#define ENDING  WR_LABEL_ENDING
#define NAME(text, places)                                                     \
    {                                                                          \
        text, sizeof(text) - 1, places                                         \
    }

/* Beside a picture "y" and "target" may be coordinates, and "labels" those of
 * the objects in it. */
const struct wr_label_name wr_label_names[WR_LABEL_NAMES] = {
    NAME("image/class/label", FEATURE),
    NAME("label", COLUMN | BESIDE | ENDING),
    NAME("labels", COLUMN),
    NAME("class", COLUMN | BESIDE),
    NAME("class_id", COLUMN | BESIDE),
    NAME("cls", COLUMN | BESIDE | ENDING),
    NAME("target", COLUMN),
    NAME("y", COLUMN),
    NAME("image/label", FEATURE),
};

const char *wr_label_name(enum wr_label_place place, unsigned k)
{
    for (unsigned i = 0; i < WR_LABEL_NAMES; i++)
        if (wr_label_names[i].places & place && k-- == 0)
            return wr_label_names[i].text;
    return NULL;
}

const char *wr_label_said(const char *schema, char buf[WR_FIELD_NAME])
{
    bool said = schema && wr_schema_option(schema, "label", buf, WR_FIELD_NAME);

    return said && !strchr(buf, ':') ? buf : NULL;
}

/* --- the label, by its value --- */

bool wr_label_of_text(const char *text, size_t len, uint32_t *ret)
{
    uint64_t value = 0;

    if (len == 2 && !memcmp(text, "-1", 2)) {
        *ret = WEIR_NO_LABEL;
        return true;
    }
    for (size_t k = 0; k < len; k++) {
        if (text[k] < '0' || text[k] > '9')
            return false;
        value = value * 10 + (uint64_t)(text[k] - '0');
        if (value >= WEIR_NO_LABEL)
            return false;
    }
    if (len)
        *ret = (uint32_t)value;
    return len > 0;
}

uint32_t wr_label_of_bytes(const void *bytes, size_t len)
{
    int64_t value = -1;
    uint32_t label;

    if (bytes && len == sizeof(value))
        memcpy(&value, bytes, sizeof(value));
    return wr_label_of_number(value, &label) ? label : WEIR_NO_LABEL;
}

/* --- the kind of a field, by its values --- */

struct wr_field wr_guess_field(const char *name, enum weir_field_kind kind,
                               enum weir_dtype dtype)
{
    bool bytes = kind == WEIR_FIELD_BYTES;
    struct wr_field f = {
        .pub = {.kind = kind,
                .dtype = bytes || kind == WEIR_FIELD_PICTURE ? WEIR_U8 : dtype,
                .ndim = bytes,
                .dims = {bytes ? WEIR_DIM_VARIES : 0}}};

    snprintf(f.name, sizeof(f.name), "%s", name);
    return f;
}

void wr_guess_dims(struct wr_field *f, const uint64_t *dims, uint32_t ndim)
{
    f->pub.ndim = ndim;
    for (uint32_t k = 0; k < ndim; k++)
        f->pub.dims[k] = dims[k] ? dims[k] : WEIR_DIM_VARIES;
}
