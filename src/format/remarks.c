/* remarks.c - what a user should know of a data set, in a sentence.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/remarks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/c_locale.h"
#include "base/mem.h"
#include "base/units.h"
#include "format/chunks.h"
#include "format/listing.h"

#define SHOWN_ENDINGS 8u
#define MAX_PARTS     8u

/* Text that grows in a buffer and is cut where that ends. */
struct remark_text {
    char *buf;
    size_t cap, len;
};

__attribute__((format(printf, 2, 3))) static void add(struct remark_text *t,
                                                      const char *fmt, ...)
{
    size_t at = WR_MIN(t->len, t->cap);
    va_list ap;

    va_start(ap, fmt);
    t->len += (size_t)wr_vsnprintf(t->buf + at, t->cap - at, fmt, ap);
    va_end(ap);
}

static const char *ending_text(const char *ext)
{
    if (!ext[0])
        return "without extension";
    return strcmp(ext, WR_IGNORED_REST) != 0 ? ext : "other";
}

bool wr_remark_ignored(const struct wr_index *ix, char *buf, size_t cap)
{
    const struct wr_ignored *ig = wr_index_ignored(ix);
    uint64_t files = wr_ignored_files(ig), told = 0;
    struct remark_text t = {buf, cap, 0};
    char n[32];

    if (!files)
        return false;
    add(&t, "%s file%s ignored:", wr_format_count(n, sizeof(n), files),
        files == 1 ? "" : "s");
    for (size_t k = 0; k < ig->count && k < SHOWN_ENDINGS; k++) {
        const struct wr_ignored_ext *e = &ig->list[k];

        add(&t, "%s %s %s", k ? "," : "", ending_text(e->ext),
            wr_format_count(n, sizeof(n), e->files));
        told += e->files;
    }
    if (told < files)
        add(&t, ", and %s more", wr_format_count(n, sizeof(n), files - told));
    return true;
}

/* "train", "val2017": a part of a data set, by its name. */
static bool is_part(const char *name)
{
    static const char *const parts[] = {
        "train", "training", "val", "valid", "validation", "test", "testing"};

    for (size_t k = 0; k < WR_ARRAY_LEN(parts); k++) {
        size_t n = strlen(parts[k]);

        if (!wr_strncasecmp(name, parts[k], n) &&
            !name[n + strspn(name + n, "0123456789")])
            return true;
    }
    return false;
}

/* The first MAX_PARTS classes that are called like parts. */
static unsigned find_parts(const struct wr_index *ix, const char **parts)
{
    uint32_t classes = wr_index_class_count(ix);
    unsigned n = 0;

    for (uint32_t c = 0; c < classes && n < MAX_PARTS; c++) {
        const char *name = wr_index_class_name(ix, c);

        if (name && is_part(name))
            parts[n++] = name;
    }
    return n;
}

/* "a, b and c" */
static void add_list(struct remark_text *t, const char *const *names,
                     unsigned n, const char *behind)
{
    for (unsigned k = 0; k < n; k++)
        add(t, "%s%s%s", names[k], behind,
            k + 2 < n    ? ", "
            : k + 2 == n ? " and "
                         : "");
}

/* "contains train/ and val/: ..." into buf, when the folders in the root are
 * parts of a data set rather than classes; false: they are not. */
static bool split_text(const weir_dataset *ds, char *buf, size_t cap)
{
    const char *parts[MAX_PARTS], *best;
    struct remark_text t = {buf, cap, 0};
    size_t url = strlen(ds->url);
    unsigned n;

    if (!ds->format->folders_are_classes)
        return false;
    n = find_parts(ds->index, parts);
    if (n < 2)
        return false;
    best = parts[0];
    for (unsigned k = 0; k < n; k++)
        if (!wr_strncasecmp(parts[k], "train", 5))
            best = parts[k];
    while (url > 1 && ds->url[url - 1] == '/')
        url--;
    add(&t, "contains ");
    add_list(&t, parts, n, "/");
    add(&t, ": their classes would be ");
    add_list(&t, parts, n, "");
    add(&t, "; did you mean %.*s/%s?", (int)WR_MIN(url, (size_t)512), ds->url,
        best);
    return true;
}

static bool chunks_text(const weir_dataset *ds, char *buf, size_t cap)
{
    const struct wr_schema *s = wr_index_schema(ds->index);
    struct remark_text t = {buf, cap, 0};
    struct wr_chunks c;

    for (unsigned k = 0; k < s->count; k++) {
        if (!wr_chunks_of(ds->index, k, &c) ||
            c.amplification <= WR_CHUNKS_MUCH)
            continue;
        add(&t,
            "shuffled, a sample of '%s' unpacks %u chunk%s, %.1f times its "
            "bytes: "
            "--order block takes the samples of a chunk together, and weir "
            "convert stores them apart",
            s->fields[k].name, c.touched, c.touched == 1 ? "" : "s",
            c.amplification);
        return true;
    }
    return false;
}

bool wr_remark_at(const weir_dataset *ds, unsigned k, char *buf, size_t cap)
{
    const char *text;

    if (split_text(ds, buf, cap) && k-- == 0)
        return true;
    if (chunks_text(ds, buf, cap) && k-- == 0)
        return true;
    for (unsigned n = 0; (text = wr_index_remark(ds->index, n)); n++)
        if (k-- == 0) {
            snprintf(buf, cap, "%s", text);
            return true;
        }
    return wr_remark_ignored(ds->index, buf, cap) && k == 0;
}
