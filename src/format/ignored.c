/* ignored.c - files that no format takes, counted by their endings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/ignored.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "base/named.h"

void wr_ignored_done(struct wr_ignored *ig)
{
    free(ig->list);
    *ig = (struct wr_ignored){0};
}

/* The ending of `name` in small letters, "" if there is none to speak of. */
static void ending(const char *name, char *to, size_t cap)
{
    const char *dot = strrchr(name, '.');
    size_t len = dot && dot != name ? strlen(dot) : 0;

    to[0] = '\0';
    if (len < 2 || len >= cap)
        return;
    for (size_t k = 1; k < len; k++)
        if (!wr_is_alnum(dot[k]) && dot[k] != '_' && dot[k] != '-')
            return;
    for (size_t k = 0; k <= len; k++)
        to[k] = wr_lower(dot[k]);
}

bool wr_ignored_counts(const char *name)
{
    static const char *const beside[] = {
        ".txt", ".md",   ".rst",  ".csv", ".tsv",  ".json",  ".jsonl", ".xml",
        ".yml", ".yaml", ".toml", ".pdf", ".html", ".idx",   ".index", ".widx",
        ".log", ".sh",   ".py",   ".md5", ".sha1", ".sha256"};
    static const char *const names[] = {"README",   "LICENSE",   "COPYING",
                                        "Makefile", "Thumbs.db", "desktop.ini"};
    char ext[16];

    if (name[0] == '.')
        return false;
    for (size_t k = 0; k < WR_ARRAY_LEN(names); k++)
        if (!wr_strcasecmp(name, names[k]))
            return false;
    ending(name, ext, sizeof(ext));
    return !wr_named_find(WR_NAMED(beside), ext);
}

/* The entry of `ext`, or of the rest when there are too many. */
static struct wr_ignored_ext *find(struct wr_ignored *ig, const char *ext)
{
    struct wr_ignored_ext *e;

    for (size_t k = 0; k < ig->count; k++)
        if (!strcmp(ig->list[k].ext, ext))
            return &ig->list[k];
    if (ig->count >= WR_IGNORED_KINDS - 1 && strcmp(ext, WR_IGNORED_REST) != 0)
        return find(ig, WR_IGNORED_REST); /* for which one place is left */
    if (!wr_grow(&ig->list, &ig->cap, ig->count + 1, sizeof(*ig->list)))
        return NULL;
    e = &ig->list[ig->count++];
    memset(e, 0, sizeof(*e)); /* no byte is undefined in a file */
    memcpy(e->ext, ext, strlen(ext));
    return e;
}

bool wr_ignored_add(struct wr_ignored *ig, const char *name)
{
    struct wr_ignored_ext *e;
    char ext[16];

    ending(name, ext, sizeof(ext));
    e = find(ig, ext);
    if (!e)
        return false;
    e->files++;
    return true;
}

bool wr_ignored_merge(struct wr_ignored *ig, const struct wr_ignored *from)
{
    for (size_t k = 0; k < from->count; k++) {
        struct wr_ignored_ext *e = find(ig, from->list[k].ext);

        if (!e)
            return false;
        e->files += from->list[k].files;
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct wr_ignored_ext *x = a, *y = b;

    if (x->files != y->files)
        return x->files < y->files ? 1 : -1;
    return strcmp(x->ext, y->ext);
}

void wr_ignored_sort(struct wr_ignored *ig)
{
    if (ig->count)
        qsort(ig->list, ig->count, sizeof(*ig->list), compare);
}

uint64_t wr_ignored_files(const struct wr_ignored *ig)
{
    uint64_t files = 0;

    for (size_t k = 0; k < ig->count; k++)
        files += ig->list[k].files;
    return files;
}
