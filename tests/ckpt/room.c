/* room.c - two folders to save in and a canary beside them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "room.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define CANARY "outside"

static const char *const canary_parts[ROOM_CANARIES] = {
    "", "file", "dir", "dir/lock", "dir/epoch", "dir/r00000.safetensors"};

const char *room_at(const char *dir, const char *name)
{
    static char paths[4][600];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
    return path;
}

/* --- the canary --- */

static void canary_make(struct room *rm)
{
    for (unsigned i = 0; i < ROOM_CANARIES; i++) {
        const char *path = room_at(rm->canary, canary_parts[i]);
        int fd;

        if (!*canary_parts[i] || !strcmp(canary_parts[i], "dir")) {
            assert_int_equal(mkdir(path, 0777), 0);
            continue;
        }
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, CANARY, strlen(CANARY)), strlen(CANARY));
        close(fd);
    }
}

void room_canary_note(struct room *rm)
{
    for (unsigned i = 0; i < ROOM_CANARIES; i++)
        assert_int_equal(
            stat(room_at(rm->canary, canary_parts[i]), &rm->was[i]), 0);
}

void room_canary_check(struct room *rm)
{
    for (unsigned i = 0; i < ROOM_CANARIES; i++) {
        const char *path = room_at(rm->canary, canary_parts[i]);
        char text[64] = "";
        struct stat is;
        int fd;

        assert_int_equal(stat(path, &is), 0);
        assert_int_equal(is.st_mtim.tv_sec, rm->was[i].st_mtim.tv_sec);
        assert_int_equal(is.st_mtim.tv_nsec, rm->was[i].st_mtim.tv_nsec);
        if (S_ISDIR(is.st_mode))
            continue;
        fd = open(path, O_RDONLY);
        assert_true(fd >= 0);
        assert_int_equal(read(fd, text, sizeof(text) - 1), strlen(CANARY));
        close(fd);
        assert_string_equal(text, CANARY);
    }
}

/* --- the room --- */

static int setup(void **state, unsigned tiers)
{
    const char *base = getenv("TMPDIR");
    struct room *rm = calloc(1, sizeof(*rm));

    /* Nothing here is about power cuts, and memory syncs faster. */
    if (!base && access("/dev/shm", W_OK) == 0)
        base = "/dev/shm";
    snprintf(rm->dir, sizeof(rm->dir), "%s/weir-test-XXXXXX",
             base ? base : "/tmp");
    if (!mkdtemp(rm->dir))
        return -1;
    snprintf(rm->fast, sizeof(rm->fast), "%s/fast", rm->dir);
    snprintf(rm->slow, sizeof(rm->slow), "%s/slow", rm->dir);
    snprintf(rm->canary, sizeof(rm->canary), "%s/canary", rm->dir);
    if (mkdir(rm->fast, 0777) || mkdir(rm->slow, 0777))
        return -1;
    rm->tiers = tiers;
    rm->w = malloc(ROOM_FLOATS * sizeof(float));
    canary_make(rm);
    room_canary_note(rm);
    *state = rm;
    return 0;
}

int room_setup_one(void **state)
{
    return setup(state, 1);
}

int room_setup_two(void **state)
{
    return setup(state, 2);
}

static int remove_one(const char *path, const struct stat *sb, int flag,
                      struct FTW *ftw)
{
    (void)sb;
    (void)flag;
    (void)ftw;
    return remove(path);
}

int room_teardown(void **state)
{
    struct room *rm = *state;

    nftw(rm->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(rm->w);
    free(rm);
    return 0;
}

/* --- saving and restoring --- */

void room_config(const struct room *rm, const char *fast, const char *slow,
                 weir_ckpt_config *ret)
{
    weir_ckpt_defaults(ret);
    ret->fast = fast ? fast : rm->fast;
    if (rm->tiers == 2)
        ret->slow = slow ? slow : rm->slow;
    ret->keep_last = 3;
    ret->threads = 1;
}

static float value(uint64_t step, size_t i)
{
    return (float)step * 1000 + (float)(i % 997);
}

weir_tensor room_tensor(const struct room *rm)
{
    return (weir_tensor){.name = "w",
                         .dtype = WEIR_F32,
                         .ndim = 1,
                         .shape = {ROOM_FLOATS},
                         .data = rm->w};
}

int room_save(struct room *rm, weir_ckpt *c, uint64_t step,
              enum weir_level level, weir_err *err)
{
    weir_tensor t = room_tensor(rm);
    weir_ckpt_state state = {.step = step, .tensors = &t, .count = 1};

    for (size_t i = 0; i < ROOM_FLOATS; i++)
        rm->w[i] = value(step, i);
    return weir_ckpt_save(c, &state, level, err);
}

/* A copy of an older step, which a device spoiled, cannot be drained. */
static bool is_old_news(int code, uint64_t step, const weir_err *err)
{
    char name[40];

    snprintf(name, sizeof(name), "step %u on", (unsigned)step);
    return code == WEIR_EDAMAGED && strstr(err->msg, "is damaged") &&
           !strstr(err->msg, name);
}

void room_must_save(struct room *rm, uint64_t step)
{
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    weir_err err;
    int r;

    room_config(rm, NULL, NULL, &cfg);
    if (weir_ckpt_open(&c, &cfg, &err) < 0)
        fail_msg("open: %s", err.msg);
    r = room_save(rm, c, step, WEIR_LEVEL_VERIFIED, &err);
    /* What is told of an older one costs this one nothing. */
    if (r < 0 && !is_old_news(r, step, &err))
        fail_msg("save of %u: %s", (unsigned)step, err.msg);
    r = weir_ckpt_close(&c, &err);
    if (r < 0 && !is_old_news(r, step, &err))
        fail_msg("close: %s", err.msg);
}

static int restore(struct room *rm, uint64_t step, weir_ckpt_found **ret,
                   weir_err *err)
{
    weir_tensor t = room_tensor(rm);
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    int r;

    room_config(rm, NULL, NULL, &cfg);
    cfg.role = WEIR_CKPT_READ;
    if (weir_ckpt_open(&c, &cfg, err) < 0)
        return err->code;
    memset(rm->w, 0xff, ROOM_FLOATS * sizeof(float));
    r = weir_ckpt_restore(c, step, &t, 1, ret, err);
    weir_ckpt_close(&c, NULL);
    return r;
}

void room_check(const struct room *rm, uint64_t step)
{
    for (size_t i = 0; i < ROOM_FLOATS; i++)
        if (rm->w[i] != value(step, i))
            fail_msg("step %u: value %zu is wrong", (unsigned)step, i);
}

uint64_t room_must_restore(struct room *rm, uint64_t step)
{
    weir_ckpt_found *found = NULL;
    uint64_t got;
    weir_err err;
    int r = restore(rm, step, &found, &err);

    if (r < 0)
        fail_msg("restore: %s", err.msg);
    if (r == 0)
        return 0;
    got = found->step;
    weir_ckpt_found_free(&found);
    room_check(rm, got);
    return got;
}

bool room_has(struct room *rm, uint64_t step)
{
    weir_ckpt_found *found = NULL;
    weir_err err;
    int r = restore(rm, step, &found, &err);

    weir_ckpt_found_free(&found);
    return r == 1;
}
