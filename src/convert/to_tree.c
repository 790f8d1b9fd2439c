/* to_tree.c - a tree of JPEGs, one folder per class.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Folders are named so that the `images` format finds the same labels: it
 * numbers them in the order of their names. Where the classes' names are not
 * in that order, or there are none, the number stands in front. A sample without
 * a label lies in the root, for there any folder would be a class.
 *
 * A file and a folder never have the same name: all files end in ".jpg", and
 * folders do not. */
#include "convert/kind.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "convert/shrink.h"
#include "format/files.h"

/* More folders than this are no tree of classes; and five digits sort. */
#define CLASSES_MAX 100000u

/* Folders below that of a class. */
#define FOLDERS_MAX (WR_IMAGES_DEPTH - 2)

#define TREE_PATH_MAX (2 * WR_CONVERT_KEY_MAX)

struct tree_state {
    const struct wr_convert_plan *plan; /* borrowed */
    struct wr_sink *sink;               /* borrowed */
    struct wr_shrink *shrink;           /* owned */
    char made[PATH_MAX];                /* the folder that was made last */
};

static int check_classes(const struct wr_convert_plan *p, weir_err *err)
{
    if (p->classes.count > CLASSES_MAX)
        return wr_fail(err, WEIR_ELIMIT,
                       "labels up to %" PRIu32 ": a tree has at most %u "
                       "classes",
                       p->classes.count - 1, CLASSES_MAX);
    return 0;
}

static int tree_check(const struct wr_convert_plan *p, weir_err *err)
{
    int r = wr_shrink_takes(p->ds->index, err);

    return r < 0 ? r : check_classes(p, err);
}

/* Keeps folders from ending as files do: "x.jpg" becomes "x_jpg". */
static void tell_from_file(char *name, size_t len)
{
    if (len >= 4 && !memcmp(name + len - 4, ".jpg", 4))
        name[len - 4] = '_';
}

/* The folder of a class. */
static void class_folder(const struct wr_convert_plan *p, uint32_t label,
                         char buf[WR_CONVERT_KEY_MAX])
{
    const char *name = wr_classes_name(&p->classes, label);
    char safe[WR_CONVERT_KEY_MAX] = "";

    if (name)
        wr_convert_safe_key(name, strlen(name), safe);
    for (char *c = safe; *c; c++)
        *c = *c == '/' ? '_' : *c;
    if (p->classes.sorted)
        snprintf(buf, WR_CONVERT_KEY_MAX, "%s", safe);
    else
        snprintf(buf, WR_CONVERT_KEY_MAX, "%05" PRIu32 "%s%.200s", label,
                 *safe ? "_" : "", safe);
    tell_from_file(buf, strlen(buf));
}

/* The path of a sample below its class's folder, or below the root, without
 * the ending. The class's name in front of the key stands there already. */
static void path_below(const struct wr_convert_plan *p, uint32_t label,
                       const char *key, char buf[WR_CONVERT_KEY_MAX])
{
    const char *name = wr_classes_name(&p->classes, label);
    size_t len = name ? strlen(name) : 0;
    unsigned folders = 0;

    if (len && !strncmp(key, name, len) && key[len] == '/')
        key += len + 1;
    for (const char *c = key; *c; c++)
        folders += *c == '/';
    if (label == WEIR_NO_LABEL || folders > FOLDERS_MAX) {
        wr_convert_flat_key(key, buf);
        return;
    }
    strcpy(buf, key);
    for (char *c = buf, *end; (end = strchr(c, '/')); c = end + 1)
        tell_from_file(c, (size_t)(end - c));
}

/* What is called the same gets the same path: the number stands for the
 * folder, which more labels may yet rename. */
static void tree_unique(const struct wr_convert_plan *p, uint32_t label,
                        const char *key, char buf[WR_CONVERT_KEY_MAX])
{
    char below[WR_CONVERT_KEY_MAX];

    path_below(p, label, key, below);
    snprintf(buf, WR_CONVERT_KEY_MAX, "%" PRIu32 "/%.1000s", label, below);
}

static void tree_path(const struct wr_convert_plan *p, uint32_t label,
                      const char *key, char buf[TREE_PATH_MAX])
{
    char folder[WR_CONVERT_KEY_MAX] = "", below[WR_CONVERT_KEY_MAX];

    if (label != WEIR_NO_LABEL)
        class_folder(p, label, folder);
    path_below(p, label, key, below);
    snprintf(buf, TREE_PATH_MAX, "%.300s%s%s.jpg", folder, *folder ? "/" : "",
             below);
}

/* Also of labels without samples, or those behind them would get other
 * numbers. */
static int tree_begin(const struct wr_convert_plan *p, struct wr_sink *sink,
                      weir_err *err)
{
    char name[WR_CONVERT_KEY_MAX];
    int r = check_classes(p, err);

    for (uint32_t k = 0; k < p->classes.count && r == 0; k++) {
        class_folder(p, k, name);
        r = wr_sink_mkdir(sink, name, err);
    }
    return r;
}

static void tree_state_free(void *state)
{
    struct tree_state *s = state;

    if (!s)
        return;
    wr_shrink_free(s->shrink);
    free(s);
}

static int tree_state_new(const struct wr_convert_plan *p, struct wr_sink *sink,
                          void **ret, weir_err *err)
{
    struct tree_state *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    s->plan = p;
    s->sink = sink;
    r = wr_shrink_new(&s->shrink, p->cfg, err);
    if (r < 0) {
        tree_state_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

/* The folders that `path` lies in. */
static int make_folders(struct tree_state *s, const char *path, weir_err *err)
{
    const char *last = strrchr(path, '/');
    size_t len = last ? (size_t)(last - path) : 0;
    char part[PATH_MAX];

    if (!len || (strlen(s->made) == len && !memcmp(s->made, path, len)))
        return 0;
    for (const char *c = path; c && c <= last; c = strchr(c + 1, '/')) {
        int r;

        if (c == path)
            continue;
        snprintf(part, sizeof(part), "%.*s", (int)(c - path), path);
        r = wr_sink_mkdir(s->sink, part, err);
        if (r < 0)
            return r;
    }
    snprintf(s->made, sizeof(s->made), "%.*s", (int)len, path);
    return 0;
}

static int tree_add(void *state, struct wr_convert_item *it,
                    struct wr_convert_part *to, weir_err *err)
{
    struct tree_state *s = state;
    struct wr_shrink_picture pic = {.bytes = it->s.bytes, .len = it->s.len};
    char path[TREE_PATH_MAX];
    int r = wr_shrink_apply(s->shrink, &pic, it->saving, err);

    if (r < 0)
        return r;
    it->fatal = true;
    if (it->s.label != WEIR_NO_LABEL && it->s.label >= s->plan->classes.count)
        return wr_fail(err, WEIR_ECHANGED,
                       "label %" PRIu32 " was not there when the labels were "
                       "counted",
                       it->s.label);
    tree_path(s->plan, it->s.label, it->key, path);
    r = make_folders(s, path, err);
    if (r == 0)
        r = wr_sink_put_bare(s->sink, path, pic.bytes, pic.len, err);
    if (r == 0) {
        it->fatal = false;
        to->bytes += pic.len;
    }
    return r;
}

const struct wr_convert_kind wr_convert_jpeg = {
    .name = "jpeg",
    .singles = true,
    .paths = true,
    .check = tree_check,
    .unique = tree_unique,
    .begin = tree_begin,
    .state_new = tree_state_new,
    .state_free = tree_state_free,
    .add = tree_add,
};
