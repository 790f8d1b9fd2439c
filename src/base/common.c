/* common.c - things that are there once in a process, by name.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/common.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/shares.h"

struct wr_common {
    const struct wr_common_kind *kind; /* borrowed */
    void *thing;                       /* owned */
    unsigned users;
    struct wr_common *next;
    char name[];
};

static struct wr_common *
find(struct wr_common *c, const struct wr_common_kind *kind, const char *name)
{
    while (c && (c->kind != kind || strcmp(c->name, name)))
        c = c->next;
    return c;
}

static int add(const struct wr_common_kind *kind, const char *name,
               const void *arg, struct wr_common **ret, weir_err *err)
{
    size_t len = strlen(name) + 1;
    struct wr_common *c = calloc(1, sizeof(*c) + len);
    int r;

    if (!c)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    c->kind = kind;
    memcpy(c->name, name, len);
    r = kind->make(arg, &c->thing, err);
    if (r < 0) {
        free(c);
        return r;
    }
    c->next = wr_shares_get()->things.first;
    wr_shares_get()->things.first = c;
    *ret = c;
    return 0;
}

int wr_common_ref(const struct wr_common_kind *kind, const char *name,
                  const void *arg, void **ret, weir_err *err)
{
    struct wr_shares *s = wr_shares_get();
    struct wr_common *c;
    int r = 0;

    pthread_mutex_lock(&s->things.lock);
    c = find(s->things.first, kind, name);
    if (!c)
        r = add(kind, name, arg, &c, err);
    if (r == 0) {
        c->users++;
        *ret = c->thing;
    }
    pthread_mutex_unlock(&s->things.lock);
    return r;
}

void wr_common_unref(void *thing)
{
    struct wr_shares *s = wr_shares_get();
    struct wr_common **at = &s->things.first, *c;

    if (!thing)
        return;
    pthread_mutex_lock(&s->things.lock);
    while (*at && (*at)->thing != thing)
        at = &(*at)->next;
    c = *at;
    assert(c);
    if (--c->users == 0) {
        *at = c->next;
        c->kind->free(c->thing);
        free(c);
    }
    pthread_mutex_unlock(&s->things.lock);
}
