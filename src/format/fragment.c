/* fragment.c - what a user says behind '#' of a data set's URL.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/fragment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/named.h"

/* --- where it begins --- */

/* "NAME=": letters, digits, '_', '-' and '.'. */
static bool starts_like_pair(const char *text)
{
    size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuv"
                            "wxyz0123456789_-.");

    return n && text[n] == '=';
}

/* Opens `plain` (which is freed, and may be NULL), what stands before a '#';
 * `behind` is what stands behind it. */
static int open_before(char *plain, const char *behind, unsigned flags,
                       struct wr_store **ret, char **ret_leaf,
                       char **ret_fragment)
{
    char *fragment = strdup(behind);
    int r = plain && fragment ? 0 : WEIR_ENOMEM;

    if (r == 0)
        r = wr_store_open_with(plain, flags, ret, ret_leaf, NULL);
    free(plain);
    if (r < 0)
        free(fragment);
    else
        *ret_fragment = fragment;
    return r;
}

int wr_fragment_open(const char *url, unsigned flags, struct wr_store **ret,
                     char **ret_leaf, char **ret_fragment, weir_err *err)
{
    weir_err whole;
    int r = wr_store_open_with(url, flags, ret, ret_leaf, &whole);

    *ret_fragment = NULL;
    if (r == 0)
        return 0;
    for (const char *at = strchr(url, '#'); at; at = strchr(at + 1, '#')) {
        int before = WEIR_ENOENT;

        if (starts_like_pair(at + 1))
            before = open_before(strndup(url, (size_t)(at - url)), at + 1,
                                 flags, ret, ret_leaf, ret_fragment);
        if (before == 0)
            return 0;
        if (before == WEIR_ENOMEM)
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    return wr_fail(err, r, "%s", whole.msg);
}

/* --- its pairs --- */

static int fail_pair(const char *pair, size_t len, const char *why,
                     weir_err *err)
{
    return wr_fail(err, WEIR_EINVAL, "'#%.*s': %s",
                   (int)(len < 200 ? len : 200), pair, why);
}

static int add_pair(struct wr_fragment *f, const char *text, size_t len,
                    weir_err *err)
{
    const char *equals = memchr(text, '=', len);
    size_t name_len = equals ? (size_t)(equals - text) : 0;
    size_t value_len = equals ? len - name_len - 1 : 0;
    struct wr_fragment_pair *p;

    if (!name_len || !value_len)
        return fail_pair(text, len, "write NAME=VALUE", err);
    if (f->count == WR_FRAGMENT_PAIRS)
        return fail_pair(text, len, "more than 64 of them", err);
    if (name_len >= WR_FRAGMENT_NAME || value_len >= WR_FRAGMENT_VALUE)
        return fail_pair(text, len, "too long", err);
    p = &f->pairs[f->count];
    memcpy(p->name, text, name_len);
    p->name[name_len] = '\0';
    memcpy(p->value, equals + 1, value_len);
    p->value[value_len] = '\0';
    if (wr_fragment_find(f, p->name))
        return fail_pair(text, len, "the name is there twice", err);
    f->count++;
    return 0;
}

int wr_fragment_parse(const char *text, struct wr_fragment *ret, weir_err *err)
{
    int r = 0;

    ret->count = 0;
    for (const char *at = text; at && r == 0;) {
        size_t len = strcspn(at, ",");

        r = add_pair(ret, at, len, err);
        at = at[len] ? at + len + 1 : NULL;
    }
    return r;
}

const char *wr_fragment_find(const struct wr_fragment *f, const char *name)
{
    int k = wr_named_text(f->pairs, f->count, sizeof(*f->pairs), name);

    return k < 0 ? NULL : f->pairs[k].value;
}

int wr_fragment_check(const struct wr_fragment *f, const char *const *known,
                      weir_err *err)
{
    char all[256] = "";

    for (unsigned k = 0; k < f->count; k++) {
        if (wr_named_find(WR_NAMED_OPEN(known), f->pairs[k].name))
            continue;
        for (unsigned n = 0; known[n]; n++)
            snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
                     n ? ", " : "", known[n]);
        return wr_fail(err, WEIR_EINVAL, "'#%s=%s': the name is none of %s",
                       f->pairs[k].name, f->pairs[k].value, all);
    }
    return 0;
}
