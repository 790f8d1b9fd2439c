/* tree.h - a YAML document as nodes that know their line and column.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The events of libfyaml's parser become the nodes; its documents are not used.
 * So nothing outside the text is ever read, nothing is resolved implicitly,
 * and the limits here bound depth and memory. */
#ifndef WR_WORKLOAD_TREE_H
#define WR_WORKLOAD_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "weir/error.h"

enum wr_wl_node_kind { WR_WL_SCALAR, WR_WL_SEQUENCE, WR_WL_MAPPING };

struct wr_wl_node {
    enum wr_wl_node_kind kind;
    bool plain;            /* a scalar without quotes */
    unsigned line, column; /* from 1; of a value that is left out: its key's */
    char *text;            /* of a scalar: owned by the tree */
    /* Of an entry of a mapping: its key. */
    const char *key;
    unsigned key_line, key_column;
    struct wr_wl_node *first, *next; /* children, and the next sibling */
    struct wr_wl_node *made_before;  /* all of the tree, to free them */
};

struct wr_wl_tree; /* opaque */

/* `where` begins the messages: "'my.yaml'" gives "'my.yaml':12:5: ...". An alias
 * shares the children of what it names: a small file stays small in memory. */
int wr_wl_tree_parse(const char *where, const char *text, size_t len,
                     struct wr_wl_tree **ret, weir_err *err);
void wr_wl_tree_free(struct wr_wl_tree *t); /* takes NULL */

/* NULL: the text has no document. */
const struct wr_wl_node *wr_wl_tree_root(const struct wr_wl_tree *t);

/* "~", "null" or nothing at all, without quotes. */
bool wr_wl_node_is_null(const struct wr_wl_node *n);

#endif
