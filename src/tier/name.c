/* name.c - the names in a tier: all that weir makes, and nothing else.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tier/name.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define STEP_DIGITS 12
#define ID_DIGITS   (WR_MANIFEST_ID - 1)

/* --- reading --- */

/* '#' stands for a step, '@' for an id, the rest for itself. */
struct pattern {
    const char *text;
    enum wr_name is;
};

static const struct pattern in_root[] = {
    {"step-#", WR_NAME_STEP},
    {".stale-#-@", WR_NAME_STALE},
    {".writer-#", WR_NAME_WRITER},
    /* of the version before */
    {".tmp-#-@", WR_NAME_TMP},
    {".slot-@", WR_NAME_SLOT},
    {".trash-@", WR_NAME_TRASH},
};

static const struct pattern in_work[] = {
    {"tmp-#-@", WR_NAME_TMP},         {"slot-@", WR_NAME_SLOT},
    {"trash-@", WR_NAME_TRASH},       {"aside-#-@", WR_NAME_ASIDE},
    {"new-@", WR_NAME_NEW},           {WR_NAME_WHO, WR_NAME_NEW},
    {"leaving-#-@", WR_NAME_LEAVING}, {WR_NAME_HELD, WR_NAME_NEW},
};

static const struct pattern in_own[] = {
    {"pin-#", WR_NAME_PIN},           {"verified-#", WR_NAME_VERIFIED},
    {"damaged-#", WR_NAME_DAMAGED},   {"generation-#", WR_NAME_GENERATION},
    {"benched", WR_NAME_BENCH},       {"epoch.new-@", WR_NAME_NEW},
    {"store.new-@", WR_NAME_NEW},     {"tier.new-@", WR_NAME_NEW},
    {"pin-#.new-@", WR_NAME_NEW},     {"verified-#.new-@", WR_NAME_NEW},
    {"damaged-#.new-@", WR_NAME_NEW},
};

/* Takes `count` digits off *s. */
static bool take(const char **s, const char *digits, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(*s)[i] || !strchr(digits, (*s)[i]))
            return false;
    *s += count;
    return true;
}

static uint64_t step_before(const char *end)
{
    uint64_t step = 0;

    for (const char *s = end - STEP_DIGITS; s < end; s++)
        step = step * 10 + (uint64_t)(*s - '0');
    return step;
}

static bool matches(const char *s, const char *pattern, uint64_t *ret_step)
{
    uint64_t step = 0;

    for (; *pattern; pattern++) {
        if (*pattern == '#') {
            if (!take(&s, "0123456789", STEP_DIGITS))
                return false;
            step = step_before(s);
        } else if (*pattern == '@') {
            if (!take(&s, "0123456789abcdef", ID_DIGITS))
                return false;
        } else if (*s++ != *pattern) {
            return false;
        }
    }
    if (*s)
        return false;
    *ret_step = step;
    return true;
}

static enum wr_name lookup(const struct pattern *table, size_t count,
                           const char *name, uint64_t *ret_step)
{
    for (size_t i = 0; i < count; i++)
        if (matches(name, table[i].text, ret_step))
            return table[i].is;
    return WR_NAME_FOREIGN;
}

enum wr_name wr_name_in_root(const char *name, uint64_t *ret_step)
{
    return lookup(in_root, WR_ARRAY_LEN(in_root), name, ret_step);
}

enum wr_name wr_name_in_own(const char *name, uint64_t *ret_step)
{
    return lookup(in_own, WR_ARRAY_LEN(in_own), name, ret_step);
}

enum wr_name wr_name_in_work(const char *name, uint64_t *ret_step)
{
    return lookup(in_work, WR_ARRAY_LEN(in_work), name, ret_step);
}

bool wr_name_is_shard(const char *name, uint32_t *ret_rank)
{
    char made[WR_SHARD_NAME];
    uint64_t rank = 0;

    if (*name != 'r')
        return false;
    for (const char *s = name + 1; *s >= '0' && *s <= '9'; s++) {
        rank = rank * 10 + (uint64_t)(*s - '0');
        if (rank > UINT32_MAX)
            return false;
    }
    wr_shard_name((uint32_t)rank, made);
    if (strcmp(name, made) != 0)
        return false;
    *ret_rank = (uint32_t)rank;
    return true;
}

/* --- making --- */

/* Names are made of parts of known length; a path that does not fit would be
 * a mistake here, not in a file. */
#define MAKE(ret, ...)                                                         \
    do {                                                                       \
        int made = snprintf(ret, WR_TIER_PATH, __VA_ARGS__);                   \
                                                                               \
        assert(made > 0 && made < WR_TIER_PATH);                               \
        (void)made;                                                            \
    } while (0)

void wr_name_step(uint64_t step, char ret[WR_TIER_PATH])
{
    MAKE(ret, "step-%012" PRIu64, step);
}

void wr_name_writer(uint64_t number, char ret[WR_TIER_PATH])
{
    MAKE(ret, ".writer-%012" PRIu64, number);
}

void wr_name_work(uint64_t number, char ret[WR_TIER_PATH])
{
    char id[WR_MANIFEST_ID];

    wr_manifest_new_id(id);
    MAKE(ret, ".writer-%012" PRIu64 "/%s", number, id);
}

/* "WORK/KIND-ID"; `kind` may have a step in it. */
static void name_in_work(const char *work, const char *kind,
                         char ret[WR_TIER_PATH])
{
    char id[WR_MANIFEST_ID];

    wr_manifest_new_id(id);
    MAKE(ret, "%s%s%s-%s", work, *work ? "/" : ".", kind, id);
}

static void name_with_step(const char *work, const char *kind, uint64_t step,
                           char ret[WR_TIER_PATH])
{
    char text[32];

    snprintf(text, sizeof(text), "%s-%012" PRIu64, kind, step);
    name_in_work(work, text, ret);
}

void wr_name_tmp(const char *work, uint64_t step, char ret[WR_TIER_PATH])
{
    name_with_step(work, "tmp", step, ret);
}

void wr_name_slot(const char *work, char ret[WR_TIER_PATH])
{
    name_in_work(work, "slot", ret);
}

void wr_name_trash(const char *work, char ret[WR_TIER_PATH])
{
    name_in_work(work, "trash", ret);
}

void wr_name_aside(const char *work, uint64_t step, char ret[WR_TIER_PATH])
{
    name_with_step(work, "aside", step, ret);
}

void wr_name_leaving(const char *work, uint64_t step, char ret[WR_TIER_PATH])
{
    name_with_step(work, "leaving", step, ret);
}

void wr_name_draft(const char *work, char ret[WR_TIER_PATH])
{
    name_in_work(work, "new", ret);
}

void wr_name_stale(uint64_t step, const char *id, char ret[WR_TIER_PATH])
{
    MAKE(ret, ".stale-%012" PRIu64 "-%s", step, id);
}

void wr_name_generation(uint64_t n, char ret[WR_TIER_PATH])
{
    MAKE(ret, WR_NAME_GENERATIONS "/generation-%012" PRIu64, n);
}

void wr_name_mark(enum wr_mark kind, uint64_t step, char ret[WR_TIER_PATH])
{
    static const char *const names[WR_MARKS] = {
        [WR_MARK_PIN] = "pin",
        [WR_MARK_VERIFIED] = "verified",
        [WR_MARK_DAMAGED] = "damaged",
    };

    MAKE(ret, WR_NAME_OWN "/%s-%012" PRIu64, names[kind], step);
}

void wr_name_new(const char *path, char ret[WR_TIER_PATH])
{
    char id[WR_MANIFEST_ID];

    wr_manifest_new_id(id);
    MAKE(ret, "%s.new-%s", path, id);
}

void wr_name_join(const char *dir, const char *leaf, char ret[WR_TIER_PATH])
{
    MAKE(ret, "%s/%s", dir, leaf);
}
