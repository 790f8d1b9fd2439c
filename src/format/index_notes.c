/* index_notes.c - filling an index: folders, classes, stamps and problems.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/index_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

static int64_t intern(struct wr_intern *in, const char *text, weir_err *err)
{
    int64_t k = wr_intern_add(in, text, strlen(text));

    if (k < 0)
        return wr_fail(err, (int)k, "index: cannot keep '%s': %s", text,
                       weir_strerror((int)k));
    return k;
}

int64_t wr_index_add_dir(struct wr_index *ix, const char *path, weir_err *err)
{
    return intern(&ix->dirs, path, err);
}

int64_t wr_index_add_class(struct wr_index *ix, const char *name, weir_err *err)
{
    return intern(&ix->classes, name, err);
}

static int fail_memory(weir_err *err)
{
    return wr_fail(err, WEIR_ENOMEM, "index: out of memory");
}

static int compare_names(const void *a, const void *b, void *arg)
{
    const struct wr_intern *names = arg;

    return strcmp(wr_intern_text(names, *(const uint32_t *)a),
                  wr_intern_text(names, *(const uint32_t *)b));
}

int wr_index_add_classes(struct wr_index *ix, const struct wr_intern *names,
                         uint32_t **ret_rank, weir_err *err)
{
    size_t n = names->count;
    uint32_t *order = malloc(n * sizeof(*order) + 1);
    uint32_t *rank = malloc(n * sizeof(*rank) + 1);
    int64_t r = 0;

    if (!order || !rank)
        r = fail_memory(err);
    for (size_t k = 0; k < n && r >= 0; k++)
        order[k] = (uint32_t)k;
    if (r >= 0)
        qsort_r(order, n, sizeof(*order), compare_names,
                (void *)(uintptr_t)names);
    for (size_t k = 0; k < n && r >= 0; k++) {
        rank[order[k]] = (uint32_t)k;
        r = wr_index_add_class(ix, wr_intern_text(names, order[k]), err);
    }
    free(order);
    if (r < 0) {
        free(rank);
        return (int)r;
    }
    *ret_rank = rank;
    return 0;
}

void wr_index_set_stamped(struct wr_index *ix, const char *path)
{
    int64_t k = wr_intern_add(&ix->stamped, path, strlen(path));

    if (k >= 0 && (uint64_t)k < ix->stamp_count)
        wr_index_set_identity(ix, ix->stamps[k].identity);
}

int wr_index_add_stamp(struct wr_index *ix, const char *path,
                       const struct wr_stamp *s, weir_err *err)
{
    int64_t k = intern(&ix->stamped, path, err);

    if (k < 0)
        return (int)k;
    if (!wr_grow(&ix->stamps, &ix->stamp_cap, (size_t)k + 1,
                 sizeof(*ix->stamps)))
        return fail_memory(err);
    ix->stamps[k] = *s;
    ix->stamp_count = ix->stamped.count;
    return 0;
}

/* Remembers a problem as long as there is room. */
static void keep_issue(struct wr_index *ix, const char *name, int code,
                       const char *reason)
{
    weir_issue issue = {.code = code};
    char *n, *why;

    ix->issue_count += code != 0;
    if (ix->issue_kept >= WR_INDEX_MAX_ISSUES ||
        !wr_grow(&ix->issues, &ix->issue_cap, ix->issue_kept + 1,
                 sizeof(issue)))
        return;
    n = strdup(name);
    why = strdup(reason);
    if (!n || !why) { /* it is counted at least */
        free(n);
        free(why);
        return;
    }
    issue.name = n;
    issue.reason = why;
    ix->issues[ix->issue_kept++] = issue;
}

void wr_index_add_issue(struct wr_index *ix, const char *name, int code,
                        const char *reason)
{
    /* What is wrong with bytes and names stays so until a stamp changes. */
    if (code != WEIR_EFORMAT && code != WEIR_ELIMIT && code != WEIR_ENOTSUP)
        ix->unsure = true;
    keep_issue(ix, name, code, reason);
}

void wr_index_add_remark(struct wr_index *ix, const char *text)
{
    keep_issue(ix, "", /* code= */ 0, text);
}

void wr_index_add_missing(struct wr_index *ix, const char *path,
                          const char *reason)
{
    static const struct wr_stamp absent = {0};

    if (ix->issue_count >= WR_INDEX_MAX_ISSUES ||
        wr_index_add_stamp(ix, path, &absent, NULL) < 0)
        ix->unsure = true;
    keep_issue(ix, path, WEIR_ENOENT, reason);
}

void wr_index_add_link(struct wr_index *ix)
{
    ix->links++;
}

uint64_t wr_index_link_count(const struct wr_index *ix)
{
    return ix->links;
}

int wr_index_add_ignored(struct wr_index *ix, const struct wr_ignored *more,
                         weir_err *err)
{
    return wr_ignored_merge(&ix->ignored, more) ? 0 : fail_memory(err);
}
