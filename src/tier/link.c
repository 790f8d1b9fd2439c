/* link.c - which store a tier belongs to, and the count of its writers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tier/link.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
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
    if (ret->kind == WR_LINK_FAST && *s == ' ' && strlen(s) > digits &&
        wr_hex_is(s + 1, digits)) {
        memcpy(ret->nonce, s + 1, digits);
        s += 1 + digits;
    }
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
        n = snprintf(ret, WR_LINK_TEXT, "fast %s %" PRIu64 "%s%s", link->store,
                     link->generation, link->nonce[0] ? " " : "", link->nonce);
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

void wr_tier_link_keep(struct wr_tier *t, const struct wr_tier_link *link)
{
    if (own_folder(t, NULL) == 0 && make_link(t, link, NULL) == 0)
        (void)wr_tier_change(t, WR_SYNC_DIR, WR_NAME_OWN, NULL, NULL);
}

int wr_tier_link_make(struct wr_tier *t, char id[WR_MANIFEST_ID], weir_err *err)
{
    struct wr_tier_link link = {.kind = WR_LINK_LAST}, is;
    weir_err why;
    int r = own_folder(t, err);

    if (r < 0)
        return r;
    if (id[0])
        memcpy(link.store, id, sizeof(link.store));
    else
        wr_manifest_new_id(link.store);
    r = make_link(t, &link, &why);
    if (r == WEIR_ENOENT) /* somebody who claims the tier swept it away */
        r = make_link(t, &link, &why);
    if (r < 0 && r != WEIR_EEXIST)
        return wr_fail_as(err, r, &why);
    /* Also when it was there: who made it may not have synced it. */
    r = wr_tier_change(t, WR_SYNC_DIR, WR_NAME_OWN, NULL, err);
    if (r == 0 && check_link(t, NULL) == WEIR_EIO) /* nobody uses it yet */
        r = wr_tier_link_write(t, &link, err);
    if (r == 0)
        r = wr_tier_link_read(t, &is, err);
    if (r == 0 && !is.store[0]) /* a save must not count as of no store */
        r = wr_fail(err, WEIR_EIO, "'%s/%s': was written and is not there",
                    t->shown, WR_NAME_STORE);
    if (r == 0)
        memcpy(id, is.store, sizeof(is.store));
    return r;
}

/* --- what is done to a tier --- */

static void read_id(struct wr_tier *t, char ret[WR_MANIFEST_ID])
{
    const size_t digits = WR_MANIFEST_ID - 1;
    char *text;
    size_t len;

    ret[0] = '\0';
    if (wr_tier_slurp(t, WR_NAME_TIER, WR_LINK_TEXT, &text, &len, NULL) < 0)
        return;
    if (len > digits && wr_hex_is(text, digits)) {
        memcpy(ret, text, digits);
        ret[digits] = '\0';
    }
    free(text);
}

void wr_tier_own_id(struct wr_tier *t, char ret[WR_MANIFEST_ID])
{
    char text[WR_LINK_TEXT];

    read_id(t, ret);
    if (ret[0])
        return;
    wr_manifest_new_id(ret);
    snprintf(text, sizeof(text), "%s\n", ret);
    if (wr_tier_replace(t, WR_NAME_TIER, text, NULL) < 0)
        ret[0] = '\0';
    else
        read_id(t, ret); /* another process may have been faster */
}

/* Not synced: it is of no use after a crash, and is written again and again. */
static int put_unsynced(struct wr_tier *t, const char *path, const char *text)
{
    struct wr_object *o;
    int r = t->store->ops->object_open(t->store, path, WR_OPEN_CREATE, &o,
                                       NULL);

    if (r < 0)
        return r;
    r = o->ops->write ? o->ops->write(o, text, strlen(text), 0, NULL)
                      : WEIR_ENOTSUP;
    o->ops->close(o, /* sync= */ false, NULL);
    return r;
}

/* The work file: "ID TEXT", "DONE BYTES" in a line of their own, which earlier
 * versions neither write nor read. */
void wr_tier_work_tell(struct wr_tier *t, const struct wr_tier_work *w)
{
    char path[WR_TIER_PATH], draft[WR_TIER_PATH], text[sizeof(*w) + 60];

    if (!wr_tier_is_writer(t))
        return;
    wr_name_join(t->work, WR_NAME_WHO, path);
    wr_name_draft(t->work, draft);
    snprintf(text, sizeof(text), "%s %s\n%" PRIu64 " %" PRIu64 "\n",
             w->from[0] ? w->from : "-", w->text, w->done, w->bytes);
    if (put_unsynced(t, draft, text) < 0 ||
        wr_tier_change(t, WR_RENAME, draft, path, NULL) < 0)
        wr_tier_remove(t, draft, NULL);
}

static void read_progress(const char *at, struct wr_tier_work *ret)
{
    uint64_t done, bytes;

    if (wr_take_digits(&at, NULL, &done) && *at++ == ' ' &&
        wr_take_digits(&at, NULL, &bytes)) {
        ret->done = done;
        ret->bytes = bytes;
    }
}

void wr_tier_work_ask(struct wr_tier *t, struct wr_tier_work *ret)
{
    char work[WR_TIER_PATH], path[WR_TIER_PATH], *text, *rest;
    size_t len, line;

    *ret = (struct wr_tier_work){0};
    if (wr_tier_find_work(t, work, NULL) < 0 || !work[0])
        return;
    wr_name_join(work, WR_NAME_WHO, path);
    if (wr_tier_slurp(t, path, 2 * WR_LINK_TEXT, &text, &len, NULL) < 0)
        return;
    line = strcspn(text, "\n");
    if (line < len)
        read_progress(text + line + 1, ret);
    text[line] = '\0';
    rest = strchr(text, ' ');
    if (rest) {
        *rest++ = '\0';
        if (strlen(text) == WR_MANIFEST_ID - 1 &&
            wr_hex_is(text, WR_MANIFEST_ID - 1))
            memcpy(ret->from, text, WR_MANIFEST_ID);
        wr_text_show(rest, /* controls= */ true, ret->text, sizeof(ret->text));
    }
    free(text);
}

/* --- generations --- */

/* The highest one in a folder, where there is a higher one than `ret`. */
static int highest_in(struct wr_tier *t, const char *dir,
                      struct wr_generation *ret, weir_err *err)
{
    struct wr_tier_entries in = {0};
    weir_err why;
    uint64_t n;
    int r = wr_tier_entries_read(t, dir, &in, &why);

    for (size_t i = 0; i < in.count && r == 0; i++)
        if (wr_name_in_own(in.all[i].name, &n) == WR_NAME_GENERATION &&
            n > ret->number)
            ret->number = n;
    wr_tier_entries_done(&in);
    return wr_tier_unless_gone(r, &why, err);
}

/* Its writer may be about to write it: not known then. */
static int read_nonce(struct wr_tier *t, struct wr_generation *g, weir_err *err)
{
    char path[WR_TIER_PATH], *text;
    weir_err why;
    size_t len;
    int r;

    wr_name_generation(g->number, path);
    r = wr_tier_slurp(t, path, WR_LINK_TEXT, &text, &len, &why);
    if (r < 0)
        return wr_tier_unless_gone(r == WEIR_ELIMIT ? 0 : r, &why, err);
    if (len >= WR_MANIFEST_ID && wr_hex_is(text, WR_MANIFEST_ID - 1) &&
        text[WR_MANIFEST_ID - 1] == ' ')
        memcpy(g->nonce, text, WR_MANIFEST_ID - 1);
    free(text);
    return 0;
}

int wr_tier_generation(struct wr_tier *t, struct wr_generation *ret,
                       weir_err *err)
{
    struct wr_generation g = {0};
    int r = highest_in(t, WR_NAME_GENERATIONS, &g, err);

    if (r == 0 && g.number == 0) /* of the version before */
        r = highest_in(t, WR_NAME_OWN, &g, err);
    else if (r == 0)
        r = read_nonce(t, &g, err);
    if (r == 0)
        *ret = g;
    return r;
}

/* Those before are of no use; one that cannot be removed does no harm. */
static void forget_before(struct wr_tier *t, const char *dir, uint64_t n)
{
    struct wr_tier_entries in = {0};
    uint64_t is;

    wr_tier_entries_read(t, dir, &in, NULL);
    for (size_t i = 0; i < in.count; i++)
        if (wr_name_in_own(in.all[i].name, &is) == WR_NAME_GENERATION && is < n)
            wr_tier_remove_in(t, dir, in.all[i].name, NULL);
    wr_tier_entries_done(&in);
}

static int create_generation(struct wr_tier *t, const struct wr_generation *g,
                             weir_err *err)
{
    char path[WR_TIER_PATH], text[WR_LINK_TEXT], host[65] = "";
    int r;

    gethostname(host, sizeof(host) - 1);
    snprintf(text, sizeof(text), "%s %s\n", g->nonce, host); /* for people */
    wr_name_generation(g->number, path);
    r = wr_tier_put(t, path, text, strlen(text), err);
    if (r == 0)
        r = wr_tier_change(t, WR_SYNC_DIR, WR_NAME_GENERATIONS, NULL, err);
    return r;
}

static int make_generations(struct wr_tier *t, weir_err *err)
{
    weir_err why;
    int r = own_folder(t, err);

    if (r < 0)
        return r;
    r = wr_tier_change(t, WR_MKDIR, WR_NAME_GENERATIONS, NULL, &why);
    if (r < 0 && r != WEIR_EEXIST)
        return wr_fail_as(err, r, &why);
    return wr_tier_change(t, WR_SYNC_DIR, WR_NAME_OWN, NULL, err);
}

int wr_tier_generation_take(struct wr_tier *t, uint64_t known,
                            int (*check)(void *arg, weir_err *err), void *arg,
                            struct wr_generation *ret, weir_err *err)
{
    struct wr_generation g;
    weir_err why;
    int r = make_generations(t, err);

    if (r < 0)
        return r;
    for (int i = 0; i < TRIES; i++) {
        r = wr_tier_generation(t, &g, err);
        if (r == 0)
            r = check(arg, err);
        if (r < 0)
            return r;
        g.number = (g.number > known ? g.number : known) + 1;
        wr_manifest_new_id(g.nonce);
        if (g.number >= WEIR_STEP_MAX) /* has no name */
            return wr_fail(err, WEIR_ELIMIT,
                           "'%s': its generations are used up", t->shown);
        r = create_generation(t, &g, &why);
        if (r != WEIR_EEXIST)
            break;
    }
    if (r < 0)
        return wr_fail_as(err, r, &why);
    forget_before(t, WR_NAME_GENERATIONS, g.number);
    forget_before(t, WR_NAME_OWN, g.number);
    *ret = g;
    return 0;
}
