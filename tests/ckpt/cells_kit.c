/* cells_kit.c - two tiers with a past, and what is left of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cells_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "scratch.h"

#define FLOATS 8
#define ENDED  100 /* problems that are told: no end of them is trouble */

int cells_setup(void **state)
{
    struct cells *s = calloc(1, sizeof(*s));

    if (!s || !scratch_make(s->dir, sizeof(s->dir), "weir-cells",
                            /* memory= */ true))
        return -1;
    snprintf(s->fast, sizeof(s->fast), "%s/fast", s->dir);
    snprintf(s->slow, sizeof(s->slow), "%s/slow", s->dir);
    *state = s;
    return 0;
}

int cells_teardown(void **state)
{
    struct cells *s = *state;

    scratch_remove(s->dir);
    free(s);
    return 0;
}

const char *cells_at(const char *dir, const char *name)
{
    static char paths[64][CELLS_PATH];
    static unsigned next;
    char *path = paths[next++ % WR_ARRAY_LEN(paths)];

    snprintf(path, CELLS_PATH, "%s/%s", dir, name);
    return path;
}

/* --- saving and restoring --- */

void cells_config(const char *fast, const char *slow, enum weir_ckpt_role role,
                  weir_ckpt_config *ret)
{
    weir_ckpt_defaults(ret);
    ret->fast = fast;
    ret->slow = slow;
    ret->role = role;
    ret->threads = 1;
    ret->keep_last = 0;
    ret->max_behind = 0;
}

weir_ckpt *cells_open(const weir_ckpt_config *cfg)
{
    weir_ckpt *c = NULL;
    weir_err err;

    if (weir_ckpt_open(&c, cfg, &err) < 0)
        fail_msg("open: %s", err.msg);
    return c;
}

static void add_text(char *told, size_t cap, const char *text)
{
    size_t len = told ? strlen(told) : 0;

    if (told && len + 1 < cap)
        snprintf(told + len, cap - len, "%s\n", text);
}

unsigned cells_problems(weir_ckpt *c, char *told, size_t cap)
{
    unsigned n = 0;
    weir_err err;

    while (n < ENDED && weir_ckpt_problem(c, &err) < 0) {
        add_text(told, cap, err.msg);
        n++;
    }
    if (n == ENDED)
        fail_msg("a problem is told again and again: %s", err.msg);
    return n;
}

void cells_close(weir_ckpt *c)
{
    char told[1000] = "";
    weir_err err;

    if (cells_problems(c, told, sizeof(told)))
        fail_msg("problem: %s", told);
    if (weir_ckpt_close(&c, &err) < 0)
        fail_msg("close: %s", err.msg);
}

void cells_drop(weir_ckpt *c, char *told, size_t cap)
{
    weir_err err;

    cells_problems(c, told, cap);
    if (weir_ckpt_close(&c, &err) < 0)
        add_text(told, cap, err.msg);
}

static weir_tensor tensor_of(float *memory)
{
    return (weir_tensor){.name = "w",
                         .dtype = WEIR_F32,
                         .ndim = 1,
                         .shape = {FLOATS},
                         .data = memory};
}

int cells_put(weir_ckpt *c, uint64_t step, unsigned salt, enum weir_level level,
              weir_err *err)
{
    float memory[FLOATS] = {(float)step, (float)salt};
    weir_tensor t = tensor_of(memory);
    weir_ckpt_state state = {.step = step, .tensors = &t, .count = 1};

    return weir_ckpt_save(c, &state, level, err);
}

void cells_save(weir_ckpt *c, uint64_t step, enum weir_level level)
{
    weir_err err;

    if (cells_put(c, step, 0, level, &err) != 0)
        fail_msg("step %u: %s", (unsigned)step, err.msg);
}

int64_t cells_restore(weir_ckpt *c, uint64_t step, char *told, size_t cap)
{
    float memory[FLOATS] = {-1};
    weir_tensor t = tensor_of(memory);
    weir_ckpt_found *f = NULL;
    int64_t got;
    weir_err err;
    int r = weir_ckpt_restore(c, step, &t, 1, &f, &err);

    if (r <= 0) {
        if (r < 0)
            add_text(told, cap, err.msg);
        return r < 0 ? r : CELLS_EMPTY;
    }
    got = (int64_t)f->step;
    for (size_t i = 0; i < f->passed_over_count; i++)
        add_text(told, cap, f->passed_over[i]);
    weir_ckpt_found_free(&f);
    if (memory[0] != (float)got)
        fail_msg("step %u has the state of step %g", (unsigned)got,
                 (double)memory[0]);
    return got;
}

int64_t cells_latest(const char *fast, const char *slow, char *told, size_t cap)
{
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    int64_t got;
    weir_err err;

    cells_config(fast, slow, WEIR_CKPT_READ, &cfg);
    if (weir_ckpt_open(&c, &cfg, &err) < 0) {
        add_text(told, cap, err.msg);
        return err.code;
    }
    got = cells_restore(c, WEIR_LATEST, told, cap);
    weir_ckpt_close(&c, NULL);
    return got;
}

void cells_live(const char *fast, const char *slow, struct cells_life life)
{
    weir_ckpt_prune_plan plan = {.keep_last = life.keep_last};
    char told[1000] = "";
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    cells_config(fast, slow, WEIR_CKPT_SAVE, &cfg);
    cfg.drain = life.level > WEIR_LEVEL_FAST;
    cfg.keep_last = life.keep_last;
    cfg.keep_fast = !life.keeps_none;
    c = cells_open(&cfg);
    if (life.from && cells_restore(c, life.from, told, sizeof(told)) < 0)
        fail_msg("restore: %s", told);
    for (uint64_t i = life.first; i <= life.last; i++)
        if (cells_put(c, i, life.salt, life.level, &err) != 0)
            fail_msg("step %u: %s", (unsigned)i, err.msg);
    if (plan.keep_last && weir_ckpt_prune(c, &plan, &err) < 0)
        fail_msg("prune: %s", err.msg); /* now, not with the next save */
    cells_close(c);
}

/* --- folders --- */

/* The value of a key in a manifest; NULL. */
static const char *value_of(const char *text, const char *key)
{
    char name[40];
    const char *at;

    snprintf(name, sizeof(name), "\"%s\":", key);
    at = strstr(text, name);
    return at ? at + strlen(name) : NULL;
}

static uint64_t number_of(const char *text, const char *key)
{
    const char *at = value_of(text, key);

    return at ? strtoull(at, NULL, 10) : 0;
}

static void id_of(const char *text, const char *key, char ret[CELLS_ID])
{
    const char *at = value_of(text, key);

    ret[0] = '\0';
    if (at && *at == '"')
        sscanf(at + 1, "%32[0-9a-f]", ret);
}

static bool read_text(const char *path, char *ret, size_t cap)
{
    FILE *f = fopen(path, "re");
    size_t n;

    if (!f)
        return false;
    n = fread(ret, 1, cap - 1, f);
    ret[n] = '\0';
    fclose(f);
    return true;
}

/* What a run continued from is an object with the same keys: it is cut out. */
static void cut_from(char *text)
{
    const char *at = value_of(text, "from");
    size_t len = at ? strcspn(at, "}") : 0;

    if (at)
        memset(text + (at - text), ' ', len);
}

void cells_look(const char *dir, struct cells_copies *add)
{
    DIR *d = opendir(dir);
    char path[2 * CELLS_PATH], text[8000];
    struct dirent *e;

    while (d && (e = readdir(d))) {
        struct cells_copy c = {.aside = !strncmp(e->d_name, ".stale-", 7)};

        if (!c.aside && strncmp(e->d_name, "step-", 5) != 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s/MANIFEST", dir, e->d_name);
        if (!read_text(path, text, sizeof(text)))
            continue; /* it has just gone */
        cut_from(text);
        c.step = number_of(text, "step");
        c.generation = number_of(text, "generation");
        c.seq = number_of(text, "seq");
        id_of(text, "id", c.id);
        id_of(text, "store", c.store);
        id_of(text, "nonce", c.nonce);
        assert_true(add->count < CELLS_MOST);
        add->all[add->count++] = c;
    }
    if (d)
        closedir(d);
}

const struct cells_copy *cells_find(const struct cells_copies *in,
                                    const char *id)
{
    for (unsigned i = 0; i < in->count; i++)
        if (!strcmp(in->all[i].id, id))
            return &in->all[i];
    return NULL;
}

const struct cells_copy *cells_of(const struct cells_copies *in, uint64_t step)
{
    for (unsigned i = 0; i < in->count; i++)
        if (!in->all[i].aside && in->all[i].step == step)
            return &in->all[i];
    return NULL;
}

bool cells_is_newer(const struct cells_copy *a, const struct cells_copy *b)
{
    if (a->generation != b->generation)
        return a->generation > b->generation;
    return a->seq != b->seq ? a->seq > b->seq : a->step > b->step;
}

void cells_copy(const char *from, const char *to, bool dots)
{
    char command[3 * CELLS_PATH];

    snprintf(command, sizeof(command), "mkdir -p '%s' && cp -r '%s'/%s '%s'",
             to, from, dots ? "." : "*", to);
    if (system(command) != 0)
        fail_msg("cannot copy '%s'", from);
}

void cells_remove(const char *dir)
{
    scratch_remove(dir);
    assert_int_not_equal(access(dir, F_OK), 0);
}

unsigned cells_count(const char *dir, const char *prefix)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    unsigned n = 0;

    while (d && (e = readdir(d)))
        n += !strncmp(e->d_name, prefix, strlen(prefix)) &&
             strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (d)
        closedir(d);
    return n;
}

void cells_store_id(const char *dir, char ret[CELLS_ID])
{
    char text[200] = "";

    ret[0] = '\0';
    if (read_text(cells_at(dir, ".weir/store"), text, sizeof(text)))
        sscanf(text, "%*s %32[0-9a-f]", ret);
}

/* --- what many tests ask --- */

int cells_open_code(const char *fast, const char *slow,
                    enum weir_ckpt_role role, weir_err *err)
{
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    int r;

    *err = (weir_err){0};
    cells_config(fast, slow, role, &cfg);
    r = weir_ckpt_open(&c, &cfg, err);
    weir_ckpt_close(&c, NULL);
    return r;
}

void cells_adopt(const char *fast, const char *slow)
{
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;
    int r;

    cells_config(fast, slow, WEIR_CKPT_ADOPT, &cfg);
    c = cells_open(&cfg);
    r = weir_ckpt_adopt(c, WEIR_LATEST, NULL, NULL, &err);
    if (r != 0)
        fail_msg("adopt: %d, %s", r, r < 0 ? err.msg : "some are left");
    weir_ckpt_close(&c, NULL);
}

int cells_drain_code(const char *fast, const char *slow, weir_err *err)
{
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    int r;

    cells_config(fast, slow, WEIR_CKPT_DRAIN, &cfg);
    r = weir_ckpt_open(&c, &cfg, err);
    if (r == 0)
        r = weir_ckpt_drain(c, err);
    weir_ckpt_close(&c, NULL);
    return r;
}

void cells_must_find(const char *fast, const char *slow, int64_t step)
{
    char told[CELLS_TEXT] = "";
    int64_t got = cells_latest(fast, slow, told, sizeof(told));

    if (got != step)
        fail_msg("LATEST is %d, not %d: %s", (int)got, (int)step, told);
}

/* Steps of a folder, set aside or not, as text: "51 52 53". */
const char *cells_steps(const char *dir)
{
    static char text[CELLS_TEXT];
    struct cells_copies in = {0};
    size_t n = 0;

    cells_look(dir, &in);
    text[0] = '\0';
    for (uint64_t step = 0; step <= 200; step++)
        if (cells_of(&in, step))
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u",
                                  n ? " " : "", (unsigned)step);
    return text;
}

/* --- the past --- */

void cells_history(const struct cells *s)
{
    static const struct cells_life before[] = {
        {.first = 48, .last = 50, .level = WEIR_LEVEL_VERIFIED},
        {.from = WEIR_LATEST,
         .first = 98,
         .last = 100,
         .level = WEIR_LEVEL_VERIFIED},
        {.from = 50, .first = 51, .last = 52, .level = WEIR_LEVEL_VERIFIED},
    };
    weir_ckpt_config cfg;
    char told[1000] = "";
    weir_ckpt *c;
    weir_err err;

    for (size_t i = 0; i < WR_ARRAY_LEN(before); i++)
        cells_live(s->fast, s->slow, before[i]);
    cells_copy(s->fast, cells_at(s->dir, "fast-then"), /* dots= */ true);
    cells_copy(s->slow, cells_at(s->dir, "slow-then"), /* dots= */ true);
    cells_config(s->fast, s->slow, WEIR_CKPT_SAVE, &cfg);
    cfg.drain = 0;
    c = cells_open(&cfg);
    assert_int_equal(cells_restore(c, WEIR_LATEST, told, sizeof(told)), 52);
    cells_save(c, 53, WEIR_LEVEL_FAST);
    if (cells_drain_code(s->fast, s->slow, &err) < 0)
        fail_msg("drain: %s", err.msg);
    cells_save(c, 54, WEIR_LEVEL_FAST);
    cells_save(c, 55, WEIR_LEVEL_FAST);
    cells_close(c);
    assert_int_equal(cells_latest(s->fast, s->slow, told, sizeof(told)), 55);
    assert_int_equal(cells_latest(s->slow, NULL, told, sizeof(told)), 53);
    assert_string_equal(told, "");
}
