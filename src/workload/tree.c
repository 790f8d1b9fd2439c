/* tree.c - a YAML document as nodes that know their line and column.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload/tree.h"

#include <libfyaml.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define MAX_BYTES (1u << 20)
#define MAX_NODES 20000
#define MAX_KEYS  1000 /* of one mapping: each is compared with the others */
#define MAX_DEPTH 32

struct anchor_name {
    char *name;              /* owned */
    struct wr_wl_node *node; /* borrowed from the tree */
    struct anchor_name *older;
};

struct wr_wl_tree {
    struct wr_wl_node *root;
    struct wr_wl_node *newest; /* all nodes by made_before */
    struct anchor_name *anchors;
    unsigned nodes;
};

/* A mapping or sequence that is being read. */
struct open_node {
    struct wr_wl_node *node;
    struct wr_wl_node *last; /* child */
    struct wr_wl_node *key;  /* of a mapping: read, its value has yet to come */
    unsigned children;
};

struct reader_of_events {
    const char *where;
    struct wr_wl_tree *tree;
    struct open_node open[MAX_DEPTH];
    unsigned depth;
    bool ended; /* the first document */
};

/* Where an event stands; line 0: nowhere. */
struct spot {
    unsigned line, column;
};

static int fail_at(const struct reader_of_events *rd, struct spot at,
                   weir_err *err, const char *why)
{
    return wr_fail(err, WEIR_EFORMAT, "%s:%u:%u: %s", rd->where, at.line,
                   at.column, why);
}

/* The mark of an alias stands behind its star, that of a text behind its quote. */
static bool is_marked_behind(struct fy_event *e)
{
    enum fy_scalar_style style;

    if (e->type != FYET_SCALAR || !e->scalar.value)
        return e->type == FYET_ALIAS;
    style = fy_token_scalar_style(e->scalar.value);
    return style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
}

static struct spot spot_of(struct fy_event *e)
{
    const struct fy_mark *m = fy_event_start_mark(e);

    if (!m)
        return (struct spot){0};
    return (struct spot){
        .line = (unsigned)m->line + 1,
        .column = (unsigned)m->column + !is_marked_behind(e),
    };
}

static struct wr_wl_node *node_new(struct wr_wl_tree *t,
                                   enum wr_wl_node_kind kind, struct spot at)
{
    struct wr_wl_node *n = calloc(1, sizeof(*n));

    if (!n)
        return NULL;
    n->kind = kind;
    n->line = at.line;
    n->column = at.column;
    n->made_before = t->newest;
    t->newest = n;
    t->nodes++;
    return n;
}

/* Hangs a complete or just begun node where the events are. */
static int attach(struct reader_of_events *rd, struct wr_wl_node *n,
                  weir_err *err)
{
    struct open_node *o = rd->depth ? &rd->open[rd->depth - 1] : NULL;
    struct spot at = {n->line, n->column};

    if (!o) {
        rd->tree->root = n;
        return 0;
    }
    if (o->node->kind == WR_WL_MAPPING && !o->key) {
        if (n->kind != WR_WL_SCALAR)
            return fail_at(rd, at, err, "a key must be a plain value");
        o->key = n;
        return 0;
    }
    if (o->key) {
        n->key = o->key->text;
        n->key_line = o->key->line;
        n->key_column = o->key->column;
        for (struct wr_wl_node *c = o->node->first; c; c = c->next)
            if (!strcmp(c->key, n->key))
                return wr_fail(err, WEIR_EFORMAT,
                               "%s:%u:%u: %s: duplicate key (first in line %u)",
                               rd->where, n->key_line, n->key_column, n->key,
                               c->key_line);
        o->key = NULL;
        if (!n->line) {
            n->line = n->key_line;
            n->column = n->key_column;
        }
    }
    if (o->node->kind == WR_WL_MAPPING && ++o->children > MAX_KEYS)
        return fail_at(rd, (struct spot){n->key_line, n->key_column}, err,
                       "more than 1000 keys in one section");
    if (o->last)
        o->last->next = n;
    else
        o->node->first = n;
    o->last = n;
    return 0;
}

static int begin(struct reader_of_events *rd, struct wr_wl_node *n,
                 weir_err *err)
{
    if (rd->depth == MAX_DEPTH)
        return fail_at(rd, (struct spot){n->line, n->column}, err,
                       "nested more than 32 levels deep");
    rd->open[rd->depth++] = (struct open_node){.node = n};
    return 0;
}

static int anchor_add(struct wr_wl_tree *t, struct fy_token *token,
                      struct wr_wl_node *n, weir_err *err)
{
    struct anchor_name *a;

    if (!token)
        return 0;
    a = calloc(1, sizeof(*a));
    if (!a)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    a->older = t->anchors;
    a->node = n;
    t->anchors = a;
    a->name = strdup(fy_token_get_text0(token));
    return a->name ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
}

/* An alias becomes a node with the content of what it names. */
static int resolve(struct reader_of_events *rd, struct fy_token *token,
                   struct wr_wl_node *n, weir_err *err)
{
    const char *name = fy_token_get_text0(token);
    const struct anchor_name *a = rd->tree->anchors;

    while (a && (!name || !a->name || strcmp(a->name, name)))
        a = a->older;
    if (!a)
        return fail_at(rd, (struct spot){n->line, n->column}, err,
                       "alias of an unknown anchor");
    for (unsigned i = 0; i < rd->depth; i++)
        if (rd->open[i].node == a->node)
            return fail_at(rd, (struct spot){n->line, n->column}, err,
                           "alias inside its own anchor");
    n->kind = a->node->kind;
    n->plain = a->node->plain;
    n->text = a->node->text ? strdup(a->node->text) : NULL;
    n->first = a->node->first;
    if (a->node->text && !n->text)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

/* The text of a scalar, as fresh memory; NULL: memory is short. libfyaml 0.7.12
 * counts some folded texts wrong, and then fy_token_get_text ends with memory that
 * was never written. Its iterator does not count ahead. */
static char *token_text(struct fy_token *token, size_t *ret_len)
{
    struct fy_token_iter *it = fy_token_iter_create(token);
    const struct fy_iter_chunk *chunk = NULL;
    char *text = NULL;
    FILE *to = it ? open_memstream(&text, ret_len) : NULL;
    int bad = 0;

    while (to && (chunk = fy_token_iter_chunk_next(it, chunk, &bad)))
        fwrite(chunk->str, 1, chunk->len, to);
    if (it)
        fy_token_iter_destroy(it);
    if (to && fclose(to) == 0 && !bad)
        return text;
    free(text);
    return NULL;
}

static int scalar_text(struct reader_of_events *rd, struct fy_token *token,
                       struct wr_wl_node *n, weir_err *err)
{
    size_t len = 0;

    n->text = token ? token_text(token, &len) : strdup("");
    n->plain = !token || fy_token_scalar_style(token) == FYSS_PLAIN;
    if (!n->text)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (strlen(n->text) < len)
        return fail_at(rd, (struct spot){n->line, n->column}, err,
                       "text contains a zero byte");
    return 0;
}

/* A scalar, an alias, or the beginning of a list or mapping. */
static int take_node(struct reader_of_events *rd, struct fy_event *e,
                     weir_err *err)
{
    enum wr_wl_node_kind kind = e->type == FYET_SEQUENCE_START  ? WR_WL_SEQUENCE
                                : e->type == FYET_MAPPING_START ? WR_WL_MAPPING
                                                                : WR_WL_SCALAR;
    struct fy_token *tag = kind == WR_WL_SEQUENCE   ? e->sequence_start.tag
                           : kind == WR_WL_MAPPING  ? e->mapping_start.tag
                           : e->type == FYET_SCALAR ? e->scalar.tag
                                                    : NULL;
    struct fy_token *anchor = kind == WR_WL_SEQUENCE  ? e->sequence_start.anchor
                              : kind == WR_WL_MAPPING ? e->mapping_start.anchor
                              : e->type == FYET_SCALAR ? e->scalar.anchor
                                                       : NULL;
    struct spot at = spot_of(e);
    struct wr_wl_node *n;
    int r = 0;

    if (tag)
        return fail_at(rd, at, err, "tags are not supported");
    if (rd->tree->nodes == MAX_NODES)
        return fail_at(rd, at, err, "more than 20000 values");
    n = node_new(rd->tree, kind, at);
    if (!n)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (e->type == FYET_ALIAS)
        r = resolve(rd, e->alias.anchor, n, err);
    else if (kind == WR_WL_SCALAR)
        r = scalar_text(rd, e->scalar.value, n, err);
    if (r == 0)
        r = anchor_add(rd->tree, anchor, n, err);
    if (r == 0)
        r = attach(rd, n, err);
    if (r == 0 && kind != WR_WL_SCALAR)
        r = begin(rd, n, err);
    return r;
}

static int take(struct reader_of_events *rd, struct fy_event *e, weir_err *err)
{
    switch (e->type) {
    case FYET_DOCUMENT_START:
        if (rd->ended)
            return fail_at(rd, spot_of(e), err, "more than one YAML document");
        return 0;
    case FYET_DOCUMENT_END:
        rd->ended = true;
        return 0;
    case FYET_SCALAR:
    case FYET_ALIAS:
    case FYET_SEQUENCE_START:
    case FYET_MAPPING_START:
        return take_node(rd, e, err);
    case FYET_SEQUENCE_END:
    case FYET_MAPPING_END:
        rd->depth--;
        return 0;
    default:
        return 0;
    }
}

/* libfyaml's own message, with the place it names. */
static int syntax_error(const char *where, struct fy_diag *diag, weir_err *err)
{
    const struct fy_diag_error *e;
    void *at = NULL;
    char shown[200];

    e = fy_diag_errors_iterate(diag, &at);
    if (!e || !e->msg)
        return wr_fail(err, WEIR_EFORMAT, "%s: not YAML", where);
    return wr_fail(
        err, WEIR_EFORMAT, "%s:%d:%d: not YAML: %s", where, e->line, e->column,
        wr_text_show(e->msg, /* controls= */ true, shown, sizeof(shown)));
}

static int read_events(struct reader_of_events *rd, struct fy_parser *p,
                       struct fy_diag *diag, weir_err *err)
{
    struct fy_event *e;
    int r = 0;

    while (r == 0 && (e = fy_parser_parse(p))) {
        r = take(rd, e, err);
        fy_parser_event_free(p, e);
    }
    if (r == 0 && fy_parser_get_stream_error(p))
        r = syntax_error(rd->where, diag, err);
    return r;
}

static struct fy_diag *silent_diag(void)
{
    struct fy_diag_cfg cfg;
    struct fy_diag *d;

    fy_diag_cfg_default(&cfg);
    cfg.fp = NULL;
    cfg.colorize = false;
    cfg.level = FYET_ERROR;
    d = fy_diag_create(&cfg);
    if (d)
        fy_diag_set_collect_errors(d, true);
    return d;
}

static int check_text(const char *where, const char *text, size_t len,
                      weir_err *err)
{
    char *copy;
    bool utf8;

    if (len > MAX_BYTES)
        return wr_fail(err, WEIR_ELIMIT,
                       "%s: larger than 1 MiB: not a description", where);
    if (memchr(text, '\0', len))
        return wr_fail(err, WEIR_EFORMAT, "%s: has zero bytes: not YAML",
                       where);
    copy = strndup(text, len);
    if (!copy)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    utf8 = wr_text_is_utf8(copy);
    free(copy);
    return utf8 ? 0
                : wr_fail(err, WEIR_EFORMAT, "%s: is not UTF-8: not YAML",
                          where);
}

int wr_wl_tree_parse(const char *where, const char *text, size_t len,
                     struct wr_wl_tree **ret, weir_err *err)
{
    struct reader_of_events rd = {.where = where};
    struct fy_parse_cfg cfg = {
        .flags = FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_1 | FYPCF_JSON_NONE};
    struct fy_parser *p = NULL;
    int r = check_text(where, text, len, err);

    if (r < 0)
        return r;
    cfg.diag = silent_diag();
    rd.tree = calloc(1, sizeof(*rd.tree));
    if (cfg.diag)
        p = fy_parser_create(&cfg);
    if (!rd.tree || !p || fy_parser_set_string(p, text, len) < 0)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    else
        r = read_events(&rd, p, cfg.diag, err);
    if (r == 0) {
        *ret = rd.tree;
        rd.tree = NULL;
    }
    wr_wl_tree_free(rd.tree);
    if (p)
        fy_parser_destroy(p);
    if (cfg.diag)
        fy_diag_destroy(cfg.diag);
    return r;
}

void wr_wl_tree_free(struct wr_wl_tree *t)
{
    if (!t)
        return;
    while (t->newest) {
        struct wr_wl_node *n = t->newest;

        t->newest = n->made_before;
        free(n->text);
        free(n);
    }
    while (t->anchors) {
        struct anchor_name *a = t->anchors;

        t->anchors = a->older;
        free(a->name);
        free(a);
    }
    free(t);
}

const struct wr_wl_node *wr_wl_tree_root(const struct wr_wl_tree *t)
{
    return t->root;
}

bool wr_wl_node_is_null(const struct wr_wl_node *n)
{
    return n->kind == WR_WL_SCALAR && n->plain &&
           (!*n->text || !strcmp(n->text, "~") || !strcmp(n->text, "null") ||
            !strcmp(n->text, "Null") || !strcmp(n->text, "NULL"));
}
