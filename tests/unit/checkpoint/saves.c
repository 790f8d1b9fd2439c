/* saves.c - two folders, a state of one number, and what was saved of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "saves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <unistd.h>

#include "base/mem.h"
#include "safetensors/shard.h"
#include "tier/tier.h"

/* At a page, so that saves that wait, and reads, need no copy. */
static uint32_t *new_numbers(void)
{
    size_t bytes = WR_ALIGN_UP(SAVES_COUNT * sizeof(uint32_t), (size_t)4096);
    uint32_t *w = aligned_alloc(4096, bytes);

    if (w)
        memset(w, 0, bytes);
    return w;
}

void saves_in_memory(void)
{
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", /* overwrite= */ 1);
}

int saves_setup(void **state)
{
    const char *base = getenv("TMPDIR");
    struct saves *s = calloc(1, sizeof(*s));

    if (!s)
        return -1;
    snprintf(s->root, sizeof(s->root), "%s/weir-test-XXXXXX",
             base ? base : "/tmp");
    s->w = new_numbers();
    if (!s->w || !mkdtemp(s->root))
        return -1;
    snprintf(s->fast, sizeof(s->fast), "%s/fast", s->root);
    snprintf(s->slow, sizeof(s->slow), "%s/slow", s->root);
    s->tensor = (weir_tensor){.name = "w",
                              .dtype = WEIR_F32,
                              .ndim = 1,
                              .shape = {SAVES_COUNT},
                              .data = s->w};
    s->state.tensors = &s->tensor;
    s->state.count = 1;
    *state = s;
    return 0;
}

int saves_teardown(void **state)
{
    struct saves *s = *state;
    char command[SAVES_PATH];
    int r;

    snprintf(command, sizeof(command), "rm -rf '%s'", s->root);
    r = system(command);
    free(s->w);
    free(s);
    return r;
}

/* A URL that lives long enough: a test has few. */
static const char *url_of(const char *dir, const char *rules)
{
    static char urls[16][SAVES_PATH];
    static unsigned k;
    char *url = urls[k++ % WR_ARRAY_LEN(urls)];

    if (rules)
        snprintf(url, SAVES_PATH, "fault:%s:%s", rules, dir);
    else
        snprintf(url, SAVES_PATH, "%s", dir);
    return url;
}

weir_ckpt_config saves_config(const struct saves *s, struct saves_tiers t)
{
    weir_ckpt_config cfg;

    weir_ckpt_defaults(&cfg);
    cfg.fast = url_of(s->fast, t.fast_rules);
    cfg.slow = t.two ? url_of(s->slow, t.slow_rules) : NULL;
    cfg.threads = 1;
    return cfg;
}

weir_ckpt *saves_open(const weir_ckpt_config *cfg)
{
    weir_ckpt *c = NULL;
    weir_err err;

    if (weir_ckpt_open(&c, cfg, &err) < 0)
        fail_msg("%s", err.msg);
    return c;
}

void saves_close(weir_ckpt *c)
{
    weir_err err;

    if (weir_ckpt_close(&c, &err) < 0)
        fail_msg("%s", err.msg);
    assert_null(c);
}

int saves_put(struct saves *s, weir_ckpt *c, uint64_t step, uint32_t number,
              enum weir_level level, weir_err *err)
{
    for (size_t i = 0; i < SAVES_COUNT; i++)
        s->w[i] = number;
    s->state.step = step;
    return weir_ckpt_save(c, &s->state, level, err);
}

void saves_must(struct saves *s, weir_ckpt *c, uint64_t step,
                enum weir_level level)
{
    weir_err err;

    if (saves_put(s, c, step, (uint32_t)step + 1, level, &err) != 0)
        fail_msg("step %u: %s", (unsigned)step, err.msg);
}

static int64_t number_of(struct wr_tier *t, const struct wr_manifest *m)
{
    uint32_t *w = new_numbers();
    struct wr_stretch want = {0, SAVES_COUNT * sizeof(*w), w};
    char path[WR_TIER_PATH];
    struct wr_shard_at place = {t->store, path};
    int64_t number;
    weir_err err;

    assert_non_null(w);
    wr_tier_shard_path(m->step, 0, path);
    if (wr_shard_read(&place, &m->shards[0], m->chunk, &want, 1, NULL, &err) <
        0)
        fail_msg("%s", err.msg);
    number = w[0];
    for (size_t i = 0; i < SAVES_COUNT; i++)
        if (w[i] != w[0])
            fail_msg("element %zu is %u, not %u", i, w[i], w[0]);
    free(w);
    return number;
}

int64_t saves_number(const char *dir, uint64_t step)
{
    struct wr_manifest m;
    struct wr_tier *t;
    int64_t number = -1;
    weir_err err;
    int r;

    assert_int_equal(wr_tier_open(dir, "fast", /* create= */ false, &t, &err),
                     0);
    r = wr_tier_manifest(t, step, &m, &err);
    if (r == 0) {
        number = number_of(t, &m);
        wr_manifest_done(&m);
    } else if (r != WEIR_ENOENT) {
        fail_msg("%s", err.msg);
    }
    wr_tier_close(t);
    return number;
}

void saves_damage(const char *dir, uint64_t step)
{
    char path[SAVES_PATH];
    FILE *f;

    snprintf(path, sizeof(path), "%s/step-%012u/MANIFEST", dir, (unsigned)step);
    f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, 20, SEEK_SET), 0);
    assert_int_equal(fputc('#', f), '#');
    assert_int_equal(fclose(f), 0);
}

void saves_wait(weir_ckpt *c, uint64_t step, enum weir_level level)
{
    weir_err err;

    if (weir_ckpt_wait(c, step, level, 300000, &err) < 0)
        fail_msg("%s", err.msg);
}

weir_ckpt_stats saves_stats(const weir_ckpt *c)
{
    weir_ckpt_stats st;

    weir_ckpt_get_stats(c, &st);
    return st;
}

char *saves_tree(const struct saves *s)
{
    char command[SAVES_PATH], *text = NULL;
    size_t len = 0, cap = 0, got;
    FILE *p;

    snprintf(command, sizeof(command),
             "find '%s' -printf '%%p %%i %%s %%m %%T@ %%C@\\n' | sort",
             s->root);
    p = popen(command, "r");
    assert_non_null(p);
    do {
        assert_true(wr_grow(&text, &cap, len + 4096, 1));
        got = fread(text + len, 1, cap - len - 1, p);
        len += got;
    } while (got > 0);
    text[len] = '\0';
    assert_int_equal(pclose(p), 0);
    return text;
}

static unsigned count_entries(const char *dir)
{
    DIR *d = opendir(dir);
    unsigned n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

unsigned saves_fds(void)
{
    return count_entries("/proc/self/fd");
}

unsigned saves_threads(void)
{
    return count_entries("/proc/self/task");
}
