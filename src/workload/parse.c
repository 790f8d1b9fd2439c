/* parse.c - YAML text, with overrides, to a description.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "workload/derive.h"
#include "workload/schema.h"
#include "workload/tree.h"
#include "workload/value.h"
#include "workload/workload.h"

#define MAX_SAMPLES 4e18 /* fits a signed 64-bit number */
#define MAX_RECORD  1e15

#define MAX_PATH   128
#define MAX_EPOCHS 1000000000 /* as the schema has it */
#define MAX_ROWS   256

/* Where the value of a key came from. */
struct key_place {
    const char *override; /* borrowed; NULL: the file, if line is not 0 */
    unsigned line, column;
};

struct wl_parser {
    const char *file;     /* for messages, as it is */
    char where[300];      /* the same in quotes */
    const char *override; /* that is being applied; NULL: the file itself */
    wr_workload_note *note;
    void *note_arg;
    struct wr_wl_draft draft;
    struct key_place place[MAX_ROWS];
    struct wr_wl_tree **trees; /* owned: texts of the draft lie in them */
    size_t tree_count;
};

/* --- what values must be to each other --- */

static int check_model(const struct wr_workload *w, const char **ret_path,
                       weir_err *err)
{
    bool layers = w->model.num_layers > 0;

    *ret_path = "model.parallelism.pipeline";
    if (layers && w->model.pipeline > (uint64_t)w->model.num_layers)
        return wr_fail(err, WEIR_EINVAL,
                       "%" PRIu64 " stages for %" PRId64 " layers",
                       w->model.pipeline, w->model.num_layers);
    if (w->model.zero_stage == 3 && w->model.pipeline > 1)
        return wr_fail(err, WEIR_EINVAL,
                       "stage 3 of ZeRO works with one stage of layers only");
    *ret_path = "model.parallelism.data";
    if (w->checkpoint.subset && w->model.data < 1)
        return wr_fail(err, WEIR_EINVAL, "is required in mode subset");
    *ret_path = "model.transformer.num_attention_heads";
    if (w->model.heads > w->model.hidden)
        return wr_fail(err, WEIR_EINVAL,
                       "more heads than hidden_size (%" PRIu64 ")",
                       w->model.hidden);
    return 0;
}

static bool is_picture(enum wr_wl_format f)
{
    return f == WR_WL_JPEG || f == WR_WL_PNG;
}

static int check_dims(const struct wr_workload *w, weir_err *err)
{
    const struct wr_wl_dims *d = &w->dataset.record_dims;
    double elements = 1;

    for (unsigned i = 0; i < d->count; i++)
        elements *= (double)d->dim[i];
    if (elements * wr_wl_element_bytes(w->dataset.element_type) > MAX_RECORD)
        return wr_fail(err, WEIR_EINVAL, "a sample of %.3g elements", elements);
    if (d->count && w->dataset.record_stdev > 0)
        return wr_fail(err, WEIR_EINVAL,
                       "cannot be combined with record_length_bytes_stdev");
    if (d->count > 2 && is_picture(w->dataset.format) &&
        w->weir.content != WR_WL_PHOTOS)
        return wr_fail(err, WEIR_EINVAL, "pictures have two sides, not %u",
                       d->count);
    if (d->count && d->dim[0] % w->dataset.datasets)
        return wr_fail(err, WEIR_EINVAL,
                       "the first side is no multiple of "
                       "hdf5.num_dset_per_record (%" PRIu64 ")",
                       w->dataset.datasets);
    return 0;
}

static int check_dataset(const struct wr_workload *w, const char **ret_path,
                         weir_err *err)
{
    double files = (double)w->dataset.files_train +
                   (double)w->dataset.files_eval;

    *ret_path = "dataset.num_files_train";
    if (w->workflow.train && !w->dataset.files_train)
        return wr_fail(err, WEIR_EINVAL, "no files to train with");
    *ret_path = "dataset.num_samples_per_file";
    if (files * (double)w->dataset.samples_per_file > MAX_SAMPLES)
        return wr_fail(err, WEIR_EINVAL, "too many samples in all files");
    *ret_path = "dataset.file_prefix";
    if (!*w->dataset.file_prefix || strchr(w->dataset.file_prefix, '/') ||
        strlen(w->dataset.file_prefix) > 128)
        return wr_fail(err, WEIR_EINVAL,
                       "must be 1 to 128 characters without a slash");
    *ret_path = "dataset.record_dims";
    return check_dims(w, err);
}

/* Each value alone is right already. The message does not say where: *ret_path
 * is the key that it is about. */
static int workload_check(const struct wr_workload *w, const char **ret_path,
                          weir_err *err)
{
    int r = check_model(w, ret_path, err);

    if (r == 0)
        r = check_dataset(w, ret_path, err);
    if (r < 0)
        return r;
    *ret_path = "checkpoint.num_checkpoints_read";
    if (w->checkpoint.writes > 0 && w->checkpoint.reads > w->checkpoint.writes)
        return wr_fail(err, WEIR_EINVAL,
                       "more than num_checkpoints_write (%" PRId64 ")",
                       w->checkpoint.writes);
    return 0;
}

/* "'my.yaml':12:5", "override 'train.epochs=x'" */
static const char *place_text(const struct wl_parser *p, struct key_place at,
                              char *buf, size_t cap)
{
    if (at.override)
        snprintf(buf, cap, "override '%.200s'", at.override);
    else if (at.line)
        snprintf(buf, cap, "%s:%u:%u", p->where, at.line, at.column);
    else
        snprintf(buf, cap, "%s", p->where);
    return buf;
}

static struct key_place value_place(const struct wl_parser *p,
                                    const struct wr_wl_node *n)
{
    return (struct key_place){p->override, n->line, n->column};
}

static struct key_place key_place(const struct wl_parser *p,
                                  const struct wr_wl_node *n)
{
    return (struct key_place){p->override, n->key_line, n->key_column};
}

static void tell(struct wl_parser *p, struct key_place at, const char *path,
                 const char *why)
{
    char where[320], text[600];

    if (!p->note)
        return;
    snprintf(text, sizeof(text), "%s: %s has no effect: %s",
             place_text(p, at, where, sizeof(where)), path, why);
    p->note(p->note_arg, text);
}

/* --- keys --- */

static int unknown_key(const struct wl_parser *p, struct key_place at,
                       const char *path, weir_err *err)
{
    char where[320], near[64], shown[160];
    const char *best = wr_wl_key_nearest(path, near, sizeof(near));

    place_text(p, at, where, sizeof(where));
    wr_text_show(path, /* controls= */ true, shown, sizeof(shown));
    if (best)
        return wr_fail(err, WEIR_EINVAL,
                       "%s: %s: unknown key; did you mean %s?", where, shown,
                       best);
    return wr_fail(err, WEIR_EINVAL, "%s: %s: unknown key", where, shown);
}

static int set_key(struct wl_parser *p, const struct wr_wl_key *k,
                   const struct wr_wl_node *n, weir_err *err)
{
    struct key_place *seen = NULL, at = key_place(p, n);
    const struct wr_wl_node *bad = n;
    char where[320];
    int r;

    for (size_t i = 0; i < MAX_ROWS && wr_wl_key_at(i); i++)
        if (wr_wl_key_at(i) == k)
            seen = &p->place[i];
    if (seen->line && !p->override)
        return wr_fail(
            err, WEIR_EINVAL, "%s: %s: duplicate key (first in line %u)",
            place_text(p, at, where, sizeof(where)), k->path, seen->line);
    *seen = at;
    if (k->kind == WR_WL_KEY_DEAD)
        tell(p, at, k->path, k->help);
    r = wr_wl_value_set(k, n, &p->draft, &bad, err);
    if (r < 0)
        return wr_fail_prefix(
            err, r, "%s: %s",
            place_text(p, value_place(p, bad), where, sizeof(where)), k->path);
    return 0;
}

static int walk(struct wl_parser *p, const struct wr_wl_node *map,
                const char *above, weir_err *err);

/* One entry: a key or a section. */
static int take_entry(struct wl_parser *p, const struct wr_wl_node *n,
                      const char *above, weir_err *err)
{
    const char *key = n->key;
    char path[MAX_PATH], where[320];
    const struct wr_wl_key *k;
    size_t len;

    if (!*above && !strcmp(key, "data_reader"))
        key = "reader";
    len = (size_t)snprintf(path, sizeof(path), "%s%s%s", above,
                           *above ? "." : "", key);
    k = len < sizeof(path) ? wr_wl_key_find(path, len) : NULL;
    if (k)
        return set_key(p, k, n, err);
    if (len >= sizeof(path) || !wr_wl_key_is_section(path, len))
        return unknown_key(p, key_place(p, n), path, err);
    if (wr_wl_node_is_null(n))
        return 0;
    if (n->kind != WR_WL_MAPPING)
        return wr_fail(err, WEIR_EINVAL, "%s: %s: is a section, not a value",
                       place_text(p, value_place(p, n), where, sizeof(where)),
                       path);
    return walk(p, n, path, err);
}

static int walk(struct wl_parser *p, const struct wr_wl_node *map,
                const char *above, weir_err *err)
{
    int r = 0;

    for (const struct wr_wl_node *n = map->first; n && r == 0; n = n->next)
        r = take_entry(p, n, above, err);
    return r;
}

/* --- the file --- */

static bool is_hydra(const char *key)
{
    return !strcmp(key, "defaults") || !strcmp(key, "hydra");
}

/* The sections stand at the top, or below `workload:` as Hydra writes them. */
static int walk_file(struct wl_parser *p, const struct wr_wl_node *root,
                     weir_err *err)
{
    int r = 0;

    if (!root || wr_wl_node_is_null(root))
        return wr_fail(err, WEIR_EINVAL, "%s: is empty: not a description",
                       p->where);
    if (root->kind != WR_WL_MAPPING)
        return wr_fail(err, WEIR_EINVAL,
                       "%s:%u:%u: not a description: it has no sections such "
                       "as dataset: and reader:",
                       p->where, root->line, root->column);
    for (const struct wr_wl_node *n = root->first; n && r == 0; n = n->next) {
        if (is_hydra(n->key))
            tell(p, key_place(p, n), n->key, "it is for Hydra");
        else if (!strcmp(n->key, "workload") && n->kind == WR_WL_MAPPING)
            r = walk(p, n, "", err);
        else
            r = take_entry(p, n, "", err);
    }
    return r;
}

static int parse_tree(struct wl_parser *p, const char *where, const char *text,
                      size_t len, weir_err *err)
{
    int r = wr_wl_tree_parse(where, text, len, &p->trees[p->tree_count], err);

    if (r == 0)
        p->tree_count++;
    return r;
}

/* --- overrides --- */

/* "++workload.train.epochs" without what Hydra wants in front. */
static const char *bare_path(const char *text)
{
    text += strspn(text, "+");
    if (!strncmp(text, "workload.", 9))
        text += 9;
    return text;
}

/* "storage.storage_options.region": below a key that has no effect. */
static bool is_below_dead(struct wl_parser *p, const char *path)
{
    for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.')) {
        const struct wr_wl_key *k = wr_wl_key_find(path, (size_t)(dot - path));

        if (k && k->kind == WR_WL_KEY_DEAD) {
            tell(p, (struct key_place){p->override, 0, 0}, path, k->help);
            return true;
        }
    }
    return false;
}

static int apply_value(struct wl_parser *p, const char *path,
                       const struct wr_wl_node *value, weir_err *err)
{
    const char *dot = strrchr(path, '.');
    struct wr_wl_node entry = value ? *value
                                    : (struct wr_wl_node){.plain = true};
    char above[MAX_PATH];
    char nothing[] = ""; /* null: no text of it is kept */

    if (!value)
        entry.text = nothing;
    entry.key = dot ? dot + 1 : path;
    entry.key_line = entry.line = 1;
    entry.next = NULL;
    snprintf(above, sizeof(above), "%.*s", dot ? (int)(dot - path) : 0, path);
    if (!strncmp(above, "data_reader", 11) && (!above[11] || above[11] == '.'))
        memmove(above, above + 5, strlen(above + 5) + 1);
    return take_entry(p, &entry, above, err);
}

static int apply_override(struct wl_parser *p, const char *text, weir_err *err)
{
    const char *path = bare_path(text), *equals = strchr(path, '=');
    struct key_place at = {text, 0, 0};
    char name[MAX_PATH], where[320];
    int r;

    if (!equals || equals == path || equals - path >= MAX_PATH)
        return wr_fail(err, WEIR_EINVAL,
                       "override '%.200s': is not section.key=value", text);
    snprintf(name, sizeof(name), "%.*s", (int)(equals - path), path);
    if (!strncmp(name, "hydra.", 6)) {
        tell(p, at, name, "it is for Hydra");
        return 0;
    }
    p->override = text;
    place_text(p, at, where, sizeof(where));
    if (is_below_dead(p, name))
        return 0;
    r = parse_tree(p, where, equals + 1, strlen(equals + 1), err);
    if (r < 0)
        return r;
    return apply_value(p, name, wr_wl_tree_root(p->trees[p->tree_count - 1]),
                       err);
}

/* --- the end --- */

static struct key_place place_of(const struct wl_parser *p, const char *path)
{
    for (size_t i = 0; i < MAX_ROWS && wr_wl_key_at(i); i++)
        if (!strcmp(wr_wl_key_at(i)->path, path))
            return p->place[i];
    return (struct key_place){0};
}

static int fail_key(const struct wl_parser *p, const char *path, int code,
                    weir_err *err)
{
    char where[320];

    return wr_fail_prefix(
        err, code, "%s: %s",
        place_text(p, place_of(p, path), where, sizeof(where)), path);
}

static struct wr_wl_said said_where(const struct wl_parser *p, const char *path)
{
    struct key_place at = place_of(p, path);

    return (struct wr_wl_said){.command = at.override != NULL,
                               .line = at.override ? 0 : at.line};
}

static void note_places(struct wl_parser *p)
{
    struct wr_workload *w = &p->draft.w;

    w->said.data = said_where(p, "dataset.data_folder");
    w->said.root = said_where(p, "storage.storage_root");
    w->said.checkpoints = said_where(p, "checkpoint.checkpoint_folder");
}

/* Values that follow from others, and checks of one against another. */
static int settle(struct wl_parser *p, weir_err *err)
{
    struct wr_workload *w = &p->draft.w;
    const char *path = NULL;
    int r = wr_wl_value_join(&p->draft, &path, err);

    note_places(p);
    if (w->checkpoint.time_between < 0)
        w->checkpoint.time_between = 0;
    /* "Only once" is a period that no run reaches. */
    if (!w->checkpoint.epochs_between)
        w->checkpoint.epochs_between = MAX_EPOCHS;
    if (!w->eval.epochs_between)
        w->eval.epochs_between = MAX_EPOCHS;
    if (w->dataset.format == WR_WL_JPEG || w->dataset.format == WR_WL_PNG)
        w->dataset.element_type = "uint8"; /* as DLIO does */
    if (r == 0)
        r = workload_check(w, &path, err);
    return r < 0 ? fail_key(p, path, r, err) : 0;
}

/* Copies the texts out of the trees, into one piece of memory. */
static int seal(struct wl_parser *p, struct wr_workload **ret, weir_err *err)
{
    struct wr_workload *w = malloc(sizeof(*w));
    size_t need = strlen(p->file) + 1;
    const struct wr_wl_key *k;
    char *at;

    for (size_t i = 0; (k = wr_wl_key_at(i)); i++) {
        const char **text = (const char **)((char *)&p->draft + k->at);

        if (k->kind == WR_WL_KEY_TEXT && *text)
            need += strlen(*text) + 1;
    }
    at = malloc(need);
    if (!w || !at) {
        free(w);
        free(at);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    p->draft.w.text_memory = at;
    p->draft.w.file = at;
    at = stpcpy(at, p->file) + 1;
    for (size_t i = 0; (k = wr_wl_key_at(i)); i++) {
        const char **text = (const char **)((char *)&p->draft + k->at);

        if (k->kind != WR_WL_KEY_TEXT || !*text)
            continue;
        need = strlen(*text) + 1;
        memcpy(at, *text, need);
        *text = at;
        at += need;
    }
    *w = p->draft.w;
    *ret = w;
    return 0;
}

struct given_text {
    const char *text;
    size_t len;
    const char *const *overrides;
    size_t override_count;
};

static int parse_all(struct wl_parser *p, const struct given_text *given,
                     struct wr_workload **ret, weir_err *err)
{
    int r = parse_tree(p, p->where, given->text, given->len, err);

    if (r == 0)
        r = walk_file(p, wr_wl_tree_root(p->trees[0]), err);
    for (size_t i = 0; i < given->override_count && r == 0; i++)
        r = apply_override(p, given->overrides[i], err);
    if (r == 0)
        r = settle(p, err);
    if (r == 0)
        r = seal(p, ret, err);
    return r;
}

int wr_workload_parse(const char *file, const char *text, size_t len,
                      const char *const *overrides, size_t override_count,
                      wr_workload_note *note, void *arg,
                      struct wr_workload **ret, weir_err *err)
{
    struct given_text given = {text, len, overrides, override_count};
    struct wl_parser *p = calloc(1, sizeof(*p));
    char shown[280];
    int r;

    if (p)
        p->trees = calloc(override_count + 1, sizeof(struct wr_wl_tree *));
    if (!p || !p->trees) {
        free(p);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    p->file = file;
    p->note = note;
    p->note_arg = arg;
    snprintf(p->where, sizeof(p->where), "'%s'",
             wr_text_show(file, /* controls= */ true, shown, sizeof(shown)));
    wr_wl_value_presets(&p->draft);
    r = parse_all(p, &given, ret, err);
    for (size_t i = 0; i < p->tree_count; i++)
        wr_wl_tree_free(p->trees[i]);
    free(p->trees);
    free(p);
    return r;
}

void wr_workload_free(struct wr_workload *w)
{
    if (!w)
        return;
    free(w->text_memory);
    free(w);
}
