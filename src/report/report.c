/* report.c - records become one document.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/named.h"
#include "result/get.h"
#include "report/view.h"

#define LABEL_BYTES 60
#define SENTENCES   4 /* of the summary */

static const char *command_of(const json_t *record)
{
    return wr_get_text(record, "command");
}

bool wr_report_comparable(const struct wr_report_spec *spec)
{
    return spec->count == 2 && wr_compare_knows(command_of(spec->records[0])) &&
           !strcmp(command_of(spec->records[0]), command_of(spec->records[1]));
}

/* A copy, of long texts only the end: beginnings are the same more often. A
 * label that is cut later on would no longer tell records apart. */
static char *clipped(const char *text, size_t len)
{
    const char *end = text + len, *from = text;
    char *copy = NULL;

    if (len <= LABEL_BYTES)
        return strndup(text, len);
    for (from = end - LABEL_BYTES; ((unsigned char)*from & 0xc0) == 0x80;)
        from++; /* not in the middle of a character */
    return asprintf(&copy, "...%.*s", (int)(end - from), from) < 0 ? NULL
                                                                   : copy;
}

/* "runs/hdd.json" -> "hdd". */
static char *short_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash && slash[1] ? slash + 1 : path;
    size_t len = strlen(base);

    if (len > 5 && !strcmp(base + len - 5, ".json"))
        len -= 5;
    return clipped(base, len);
}

static bool is_taken(char *const *labels, size_t count, const char *label)
{
    return wr_named_find(labels, count, sizeof(*labels), label);
}

/* A short name that none of the `count` before has: of the file, of the path,
 * or with the place among the records. */
static char *make_label(const char *path, char *const *labels, size_t count)
{
    char *label = short_name(path), *numbered;

    if (label && is_taken(labels, count, label)) {
        free(label);
        label = clipped(path, strlen(path));
    }
    for (size_t i = count + 1; label && is_taken(labels, count, label); i++) {
        char *name = clipped(path, strlen(path));

        if (!name || asprintf(&numbered, "%s (%zu)", name, i) < 0)
            numbered = NULL;
        free(name);
        free(label);
        label = numbered;
    }
    return label;
}

/* The records of the same command as record i into `some`; none if it is not
 * the first of them. */
static size_t same_command(const struct wr_view_record *all, size_t count,
                           size_t i, struct wr_view_record *some)
{
    const char *command = command_of(all[i].json);
    size_t n = 0;

    for (size_t k = 0; k < i; k++)
        if (!strcmp(command_of(all[k].json), command))
            return 0;
    for (size_t k = i; k < count; k++)
        if (!strcmp(command_of(all[k].json), command))
            some[n++] = all[k];
    return n;
}

/* A few sentences on top: commands share the room. */
static void summarize(struct wr_doc *d, const struct wr_view_record *all,
                      size_t count, struct wr_view_record *some)
{
    size_t commands = 0, room = SENTENCES;

    for (size_t i = 0; i < count; i++)
        commands += same_command(all, count, i, some) > 0;
    for (size_t i = 0; i < count && commands; i++) {
        size_t n = same_command(all, count, i, some);
        const struct wr_view *view = wr_view_find(command_of(all[i].json));
        size_t share = (room + commands - 1) / commands;

        if (!n)
            continue;
        if (view->summarize && share)
            view->summarize(d, some, n, share);
        room -= share;
        commands--;
    }
}

/* The view of each command gets all its records at once. */
static void build_views(struct wr_doc *d, const struct wr_view_record *all,
                        size_t count, struct wr_view_record *some)
{
    for (size_t i = 0; i < count; i++) {
        size_t n = same_command(all, count, i, some);

        if (n)
            wr_view_build(wr_view_find(command_of(all[i].json)), d, some, n);
    }
}

/* Conclusions come first, whatever the files are called. Records of one
 * command stay as they came. */
static void order(struct wr_view_record *all, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct wr_view_record r = all[i];
        size_t place = wr_view_order(command_of(r.json)), k = i;

        for (; k > 0 && wr_view_order(command_of(all[k - 1].json)) > place; k--)
            all[k] = all[k - 1];
        all[k] = r;
    }
}

static struct wr_doc *build(const struct wr_report_spec *spec,
                            struct wr_view_record *all,
                            struct wr_view_record *some,
                            struct wr_comparison *ret)
{
    char subtitle[WR_VIEW_NAME];
    struct wr_doc *d;

    snprintf(subtitle, sizeof(subtitle), "%zu records", spec->count);
    if (spec->count == 1)
        snprintf(subtitle, sizeof(subtitle), "%s of %s",
                 command_of(all[0].json), wr_get_text(all[0].json, "time"));
    d = wr_doc_new(spec->title, subtitle);
    if (spec->compare)
        wr_compare(d, all, ret);
    order(all, spec->count);
    if (!spec->compare) /* which says by itself what matters */
        summarize(d, all, spec->count, some);
    build_views(d, all, spec->count, some);
    if (spec->count > 1)
        wr_view_hosts(d, all, spec->count);
    return d;
}

static int fail_unlike(const struct wr_report_spec *spec, weir_err *err)
{
    const char *a = spec->count ? command_of(spec->records[0]) : "";

    if (spec->count == 2 && !strcmp(a, command_of(spec->records[1])))
        return wr_fail(err, WEIR_EINVAL,
                       "records of 'weir %s' are not compared: without "
                       "--compare they stand side by side",
                       a);
    return wr_fail(err, WEIR_EINVAL,
                   "only two records of the same command can be compared");
}

int wr_report(const struct wr_report_spec *spec, struct wr_doc **ret,
              struct wr_comparison *ret_comparison, weir_err *err)
{
    struct wr_view_record *all = calloc(2 * spec->count + 1, sizeof(*all));
    char **labels = calloc(spec->count + 1, sizeof(*labels));
    struct wr_doc *d = NULL;
    size_t named = 0;
    int r = 0;

    if (spec->compare && !wr_report_comparable(spec)) {
        r = fail_unlike(spec, err);
        goto out;
    }
    for (; all && labels && named < spec->count; named++) {
        labels[named] = make_label(spec->paths[named], labels, named);
        if (!labels[named])
            break;
        all[named] = (struct wr_view_record){spec->paths[named], labels[named],
                                             spec->records[named],
                                             .alone = spec->count == 1};
        if (!wr_view_record_read(&all[named]))
            break;
    }
    if (all && labels && named == spec->count)
        d = build(spec, all, all + spec->count, ret_comparison);
    if (wr_doc_failed(d)) {
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
        goto out;
    }
    *ret = d;
    d = NULL;
out:
    wr_doc_free(d);
    for (size_t i = 0; all && labels && i < spec->count; i++) {
        wr_view_record_done(&all[i]);
        free(labels[i]);
    }
    free(labels);
    free(all);
    return r;
}
