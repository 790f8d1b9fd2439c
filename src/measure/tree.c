/* tree.c - whose a folder is that measuring made.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NAME_CAP 256
#define PATH_CAP 512

/* Names are gathered first: a folder is not changed while it is listed. */
struct tree_names {
    struct {
        char name[NAME_CAP];
        bool folder;
    } * at; /* owned */
    size_t count, cap;
};

static int gather(void *arg, const struct wr_entry *e)
{
    struct tree_names *n = arg;

    if (strlen(e->name) >= NAME_CAP)
        return WEIR_ELIMIT;
    if (!wr_grow(&n->at, &n->cap, n->count + 1, sizeof(*n->at)))
        return WEIR_ENOMEM;
    snprintf(n->at[n->count].name, NAME_CAP, "%s", e->name);
    n->at[n->count++].folder = e->kind == WR_KIND_DIR;
    return 0;
}

static bool is_number(const char *s)
{
    return *s && s[strspn(s, "0123456789")] == '\0';
}

static int check_file(void *arg, const struct wr_entry *e)
{
    return e->kind == WR_KIND_FILE && is_number(e->name) ? 0 : WEIR_EFORMAT;
}

bool wr_probe_tree_is_ours(struct wr_store *st, const char *folder)
{
    struct tree_names n = {0};
    char path[PATH_CAP];
    bool ours = st->ops->list(st, folder, gather, &n, NULL) == 0;

    for (size_t i = 0; ours && i < n.count; i++) {
        const char *name = n.at[i].name;

        if (n.at[i].folder) {
            ours = (*name == 's' || *name == 'c') && is_number(name + 1);
            snprintf(path, sizeof(path), "%s/%s", folder, name);
            ours = ours && st->ops->list(st, path, check_file, NULL, NULL) == 0;
        } else {
            ours = !strcmp(name, WR_PROBE_LOCK) || !strcmp(name, "big") ||
                   !strcmp(name, "write");
        }
    }
    free(n.at);
    return ours;
}
