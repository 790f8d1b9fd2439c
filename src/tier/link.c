/* link.c - which store a tier belongs to, and the count of its writers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tier/link.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/units.h"
#include "codec/crc32c.h"
#include "safetensors/hex.h"
#include "tier/private.h"

#define SUM_LEN 10   /* " 0123abcd\n" */
#define TRIES   1000 /* each time another machine was faster */

/* A writer has made it. */
static int own_folder(struct wr_tier *t, weir_err *err)
{
    return wr_tier_is_writer(t) ? 0 : wr_tier_make_own(t, err);
}

/* --- the store that it belongs to --- */

/* Takes a word off *s when it is there. */
static bool take_word(const char **s, const char *word)
{
    size_t len = strlen(word);

    if (strncmp(*s, word, len) != 0)
        return false;
    *s += len;
    return true;
}

static bool take_number(const char **s, uint64_t *ret)
{
    const char *begin = *s;

    return wr_take_digits(s, NULL, ret) && (*begin != '0' || *s == begin + 1) &&
           *ret < INT64_MAX; /* one more must fit */
}

/* The rest of a line is the checksum of what is before: a flipped digit must not
 * make it another store. */
static bool is_sum(const char *text, const char *at)
{
    char sum[SUM_LEN + 1];

    snprintf(sum, sizeof(sum), " %08" PRIx32 "\n",
             wr_crc32c(0, text, (size_t)(at - text)));
    return !strcmp(at, sum);
}

bool wr_tier_link_parse(const char *text, struct wr_tier_link *ret)
{
    const char *s = text;
    const size_t digits = sizeof(ret->store) - 1;

    *ret = (struct wr_tier_link){0};
    ret->kind = take_word(&s, "last ")   ? WR_LINK_LAST
                : take_word(&s, "fast ") ? WR_LINK_FAST
                                         : WR_LINK_NONE;
    if (ret->kind == WR_LINK_NONE || strlen(s) < digits ||
        !wr_hex_is(s, digits))
        return false;
    memcpy(ret->store, s, digits);
    s += digits;
    if (ret->kind == WR_LINK_FAST &&
        (!take_word(&s, " ") || !take_number(&s, &ret->generation)))
        return false;
    return is_sum(text, s);
}

int wr_tier_link_read(struct wr_tier *t, struct wr_tier_link *ret,
                      weir_err *err)
{
    struct wr_tier_link link = {0};
    weir_err why;
    char *text;
    size_t len;
    bool good;
    int r;

    r = wr_tier_slurp(t, WR_NAME_STORE, WR_LINK_TEXT, &text, &len, &why);
    if (r == WEIR_ENOENT) {
        *ret = link;
        return 0;
    }
    if (r < 0 && r != WEIR_ELIMIT)
        return wr_fail_as(err, r, &why);
    good = r == 0 && strlen(text) == len && wr_tier_link_parse(text, &link);
    if (r == 0)
        free(text);
    if (!good)
        return wr_fail(err, WEIR_EDAMAGED,
                       "'%s/%s': does not say which store it belongs to; 'weir "
                       "ckpt adopt' writes it anew",
                       t->shown, WR_NAME_STORE);
    *ret = link;
    return 0;
}

void wr_tier_link_text(const struct wr_tier_link *link, char ret[WR_LINK_TEXT])
{
    int n;

    if (link->kind == WR_LINK_LAST)
        n = snprintf(ret, WR_LINK_TEXT, "last %s", link->store);
    else
        n = snprintf(ret, WR_LINK_TEXT, "fast %s %" PRIu64, link->store,
                     link->generation);
    snprintf(ret + n, (size_t)(WR_LINK_TEXT - n), " %08" PRIx32 "\n",
             wr_crc32c(0, ret, (size_t)n));
}

/* Reads back what was written: when it is wrong nobody gets in any more, so that
 * is noticed now. */
static int check_link(struct wr_tier *t, weir_err *err)
{
    struct wr_tier_link link;
    int r = wr_tier_link_read(t, &link, err);

    return r == WEIR_EDAMAGED ? wr_fail(err, WEIR_EIO,
                                        "'%s/%s': did not read back as it was "
                                        "written",
                                        t->shown, WR_NAME_STORE)
                              : r;
}

int wr_tier_link_write(struct wr_tier *t, const struct wr_tier_link *link,
                       weir_err *err)
{
    char text[WR_LINK_TEXT];
    int r = 0;

    wr_tier_link_text(link, text);
    for (int i = 0; i < 2; i++) {
        r = wr_tier_replace(t, WR_NAME_STORE, text, err);
        if (r == 0)
            r = check_link(t, err);
        if (r == 0)
            break;
    }
    return r;
}

/* Written beside and renamed where nothing may be: never half a file, and of two
 * processes one is first. */
static int make_link(struct wr_tier *t, const struct wr_tier_link *link,
                     weir_err *err)
{
    char text[WR_LINK_TEXT], beside[WR_TIER_PATH];
    int r;

    wr_tier_link_text(link, text);
    wr_name_new(WR_NAME_STORE, beside);
    r = wr_tier_put(t, beside, text, strlen(text), err);
    if (r == 0)
        r = wr_tier_change(t, WR_RENAME_NEW, beside, WR_NAME_STORE, err);
    if (r < 0)
        wr_tier_remove(t, beside, NULL);
    return r;
}

int wr_tier_link_make(struct wr_tier *t, char ret_id[WR_MANIFEST_ID],
                      weir_err *err)
{
    struct wr_tier_link link = {.kind = WR_LINK_LAST};
    weir_err why;
    int r = own_folder(t, err);

    if (r < 0)
        return r;
    wr_manifest_new_id(link.store);
    r = make_link(t, &link, &why);
    if (r < 0 && r != WEIR_EEXIST)
        return wr_fail_as(err, r, &why);
    /* Also when it was there: who made it may not have synced it. */
    r = wr_tier_change(t, WR_SYNC_DIR, WR_NAME_OWN, NULL, err);
    if (r == 0 && check_link(t, NULL) == WEIR_EIO) /* nobody uses it yet */
        r = wr_tier_link_write(t, &link, err);
    if (r == 0)
        r = wr_tier_link_read(t, &link, err);
    if (r == 0)
        memcpy(ret_id, link.store, sizeof(link.store));
    return r;
}

/* --- generations --- */

int wr_tier_generation(struct wr_tier *t, uint64_t *ret, weir_err *err)
{
    struct wr_tier_entries in = {0};
    uint64_t most = 0, n;
    weir_err why;
    int r = wr_tier_entries_read(t, WR_NAME_OWN, &in, &why);

    for (size_t i = 0; i < in.count && r == 0; i++)
        if (wr_name_in_own(in.all[i].name, &n) == WR_NAME_GENERATION &&
            n > most)
            most = n;
    wr_tier_entries_done(&in);
    r = wr_tier_unless_gone(r, &why, err);
    if (r == 0)
        *ret = most;
    return r;
}

/* Those before are of no use; one that cannot be removed does no harm. */
static void forget_before(struct wr_tier *t, uint64_t generation)
{
    struct wr_tier_entries in = {0};
    uint64_t n;

    wr_tier_entries_read(t, WR_NAME_OWN, &in, NULL);
    for (size_t i = 0; i < in.count; i++)
        if (wr_name_in_own(in.all[i].name, &n) == WR_NAME_GENERATION &&
            n < generation)
            wr_tier_remove_in(t, WR_NAME_OWN, in.all[i].name, NULL);
    wr_tier_entries_done(&in);
}

static int create_generation(struct wr_tier *t, uint64_t n, weir_err *err)
{
    char path[WR_TIER_PATH], text[WR_LINK_TEXT], host[65] = "";
    int r;

    gethostname(host, sizeof(host) - 1);
    snprintf(text, sizeof(text), "%s\n", host); /* for people */
    wr_name_generation(n, path);
    r = wr_tier_put(t, path, text, strlen(text), err);
    if (r == 0)
        r = wr_tier_change(t, WR_SYNC_DIR, WR_NAME_OWN, NULL, err);
    return r;
}

int wr_tier_generation_take(struct wr_tier *t, uint64_t known, uint64_t *ret,
                            weir_err *err)
{
    uint64_t n = 0;
    weir_err why;
    int r = own_folder(t, err);

    if (r < 0)
        return r;
    for (int i = 0; i < TRIES; i++) {
        r = wr_tier_generation(t, &n, err);
        if (r < 0)
            return r;
        n = (n > known ? n : known) + 1;
        if (n >= WEIR_STEP_MAX) /* has no name */
            return wr_fail(err, WEIR_ELIMIT,
                           "'%s': its generations are used up", t->shown);
        r = create_generation(t, n, &why);
        if (r != WEIR_EEXIST)
            break;
    }
    if (r < 0)
        return wr_fail_as(err, r, &why);
    forget_before(t, n);
    *ret = n;
    return 0;
}
