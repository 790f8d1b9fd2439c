/* classes.c - the names of the classes: the index's, or of classes.txt.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/classes.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "convert/names.h"

#define TEXT_MAX (16u << 20)

const char *wr_classes_name(const struct wr_classes *c, uint32_t label)
{
    if (label == WEIR_NO_LABEL)
        return NULL;
    if (c->text)
        return label < c->line_count && *c->lines[label] ? c->lines[label]
                                                         : NULL;
    return wr_index_class_name(c->index, label);
}

/* Labels may be huge numbers, but names are given from 0 on. */
static uint32_t named_count(const struct wr_classes *c)
{
    uint32_t n = c->line_count;

    while (!c->text && wr_index_class_name(c->index, n))
        n++;
    return n;
}

static int split_lines(struct wr_classes *c, weir_err *err)
{
    size_t cap = 0;

    for (char *line = c->text, *end; *line; line = end) {
        end = strchrnul(line, '\n');
        if (*end)
            *end++ = '\0';
        if (!wr_grow(&c->lines, &cap, c->line_count + 1, sizeof(char *)))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        c->lines[c->line_count++] = line;
    }
    return 0;
}

/* A file that cannot be read, or is none of ours, costs the names only. */
static int read_lines(struct wr_classes *c, const weir_dataset *ds,
                      weir_err *err)
{
    size_t len;

    if (wr_store_slurp(ds->store, WR_CLASSES_FILE, TEXT_MAX, &c->text, &len,
                       NULL) < 0) {
        c->text = NULL;
        return 0;
    }
    return split_lines(c, err);
}

/* Whether a folder may be called like the class; pictures end in ".jpg". */
static bool is_folder_name(const char *name)
{
    char safe[WR_CONVERT_KEY_MAX];
    size_t len = strlen(name);

    return !strchr(name, '/') && strcmp(name, WR_CLASSES_FILE) != 0 &&
           !(len >= 4 && !strcmp(name + len - 4, ".jpg")) &&
           wr_convert_safe_key(name, len, safe) == len && !strcmp(safe, name);
}

/* Whether folders called like the classes give the same labels again. */
static bool is_sorted(const struct wr_classes *c)
{
    for (uint32_t k = 0; k < c->count; k++) {
        const char *name = wr_classes_name(c, k);

        if (!name || !is_folder_name(name))
            return false;
        if (k && strcmp(wr_classes_name(c, k - 1), name) >= 0)
            return false;
    }
    return c->count > 0;
}

int wr_classes_init(struct wr_classes *c, const weir_dataset *ds, weir_err *err)
{
    int r = 0;

    *c = (struct wr_classes){.index = ds->index};
    if (!wr_index_class_name(ds->index, 0) &&
        (ds->format->unpack || wr_index_class_count(ds->index)))
        r = read_lines(c, ds, err);
    if (r < 0) {
        wr_classes_done(c);
        return r;
    }
    c->count = WR_MAX(c->line_count, wr_index_class_count(ds->index));
    c->sorted = is_sorted(c);
    return 0;
}

void wr_classes_meet(struct wr_classes *c, uint32_t label)
{
    if (label == WEIR_NO_LABEL || label < c->count)
        return;
    c->count = label + 1;
    c->sorted = c->sorted && is_sorted(c);
}

void wr_classes_done(struct wr_classes *c)
{
    free(c->text);
    free(c->lines);
    *c = (struct wr_classes){0};
}

int wr_classes_text(const struct wr_classes *c, struct wr_bytes *ret,
                    weir_err *err)
{
    uint32_t count = named_count(c);
    struct wr_bytes text = {0};
    bool any = false;

    for (uint32_t k = 0; k < count; k++) {
        const char *name = wr_classes_name(c, k);
        size_t len = name ? strlen(name) : 0;
        uint8_t *room = wr_bytes_room(&text, len + 1);

        if (!room) {
            free(text.bytes);
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        }
        for (size_t i = 0; i < len; i++)
            room[i] = name[i] == '\n' ? '_' : (uint8_t)name[i];
        room[len] = '\n';
        text.len += len + 1;
        any = any || len;
    }
    if (!any)
        text.len = 0;
    *ret = text;
    return 0;
}
