/* planted.c - links, wrong bytes and second writers in a store's folders.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "room.h"

#define ID    "0123456789abcdef0123456789abcdef"
#define SHARD "r00000.safetensors"

/* Opens, saves and closes; the first error, which has to name something. */
static int try_save(struct room *rm, uint64_t step)
{
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    weir_err err = {0}, later;
    int r, x;

    room_config(rm, NULL, NULL, &cfg);
    r = weir_ckpt_open(&c, &cfg, &err);
    if (r == 0) {
        r = room_save(rm, c, step, WEIR_LEVEL_VERIFIED, &err);
        x = weir_ckpt_close(&c, r < 0 ? &later : &err);
        r = r < 0 ? r : x;
    }
    if (r < 0 && !strchr(err.msg, '\''))
        fail_msg("'%s' names nothing", err.msg);
    return r;
}

/* --- links --- */

/* What is put where: `in` is "" or a prefix of the folder to look for, with "W"
 * for that of the tier's writer; an @ in `name` is the step that is saved
 * next. */
static const struct plant {
    const char *in, *name;
    const char *to; /* in the canary */
    bool hard;
} plants[] = {
    {"", "step-@", "dir", false},
    {"", "step-@", "file", false},
    {"", "step-@", "nothing", false},
    {"step-", SHARD, "file", false},
    {"step-", SHARD, "file", true},
    {"step-", "MANIFEST", "file", false},
    {"W", "tmp-@-" ID, "dir", false},
    {"W", "slot-" ID, "dir", false},
    {"W", "trash-" ID, "dir", false},
    {"W", "aside-@-" ID, "dir", false},
    {"W", "leaving-@-" ID, "dir", false},
    {"W", "new-" ID, "file", false},
    {"W", "who", "file", false},
    {"W", "mine", "dir", false},
    {"", ".writer-000000999999", "dir", false},
    {"", ".tmp-@-" ID, "dir", false},
    {"", ".slot-" ID, "dir", false},
    {"", ".trash-" ID, "dir", false},
    {"", ".weir", "dir", false},
    {"", ".weir", "nothing", false},
    {".weir", "lock", "file", false},
    {".weir", "lock", "nothing", false},
    {".weir", "lock", "file", true},
    {".weir", "epoch", "file", false},
    {".weir", "epoch", "nothing", false},
    {".weir", "generations", "dir", false},
    {".weir", "generations", "nothing", false},
    {".weir", "tier", "file", false},
    {".weir", "tier", "nothing", false},
    {".weir", "verified-@", "nothing", false},
    {".weir", "verified-@", "file", false},
    {"W/slot-", SHARD, "file", false},
    {"W/slot-", SHARD, "nothing", false},
    {"W/slot-", SHARD, "file", true},
    {"W/slot-", "MANIFEST", "file", false},
    {"W/slot-", "MANIFEST", "file", true},
    {"W/slot-", "more", "dir", false},
};

/* The folder in a folder that begins so, "W" for that of its writer; "" when
 * there is none. Not a link that was planted before: it leads to the canary. */
static void find(const char *dir, const char *prefix, char *ret, size_t cap)
{
    bool work = prefix[0] == 'W';
    glob_t found = {0};
    char pattern[700];
    struct stat sb;

    snprintf(pattern, sizeof(pattern), "%s/%s%s*", dir,
             work ? ".writer-*/????????????????????????????????" : "",
             prefix + work);
    *ret = '\0';
    if (glob(pattern, 0, NULL, &found) != 0)
        found.gl_pathc = 0;
    for (size_t i = 0; i < found.gl_pathc && !*ret; i++)
        if (lstat(found.gl_pathv[i], &sb) == 0 && S_ISDIR(sb.st_mode))
            snprintf(ret, cap, "%s", found.gl_pathv[i] + strlen(dir) + 1);
    globfree(&found);
}

static void put_plant(const struct room *rm, const char *tier,
                      const struct plant *p, uint64_t step, char ret[700])
{
    int before = (int)strcspn(p->name, "@");
    char dir[256] = "", target[600], name[256];

    if (p->name[before])
        snprintf(name, sizeof(name), "%.*s%012u%s", before, p->name,
                 (unsigned)step, p->name + before + 1);
    else
        snprintf(name, sizeof(name), "%s", p->name);

    if (*p->in)
        find(tier, p->in, dir, sizeof(dir));
    snprintf(ret, 700, "%s/%s%s%s", tier, dir, *dir ? "/" : "", name);
    snprintf(target, sizeof(target), "%s/%s", rm->canary, p->to);
    assert_true(!*p->in || *dir);
    if (access(ret, F_OK) == 0) { /* kept beside under a foreign name */
        char aside[700];

        snprintf(aside, sizeof(aside), "%s/aside", rm->dir);
        assert_int_equal(rename(ret, aside), 0);
    }
    assert_int_equal(p->hard ? link(target, ret) : symlink(target, ret), 0);
}

static void remove_plant(const struct room *rm, const char *path)
{
    char aside[700];

    /* The store may have taken it away, which it may. */
    assert_true(unlink(path) == 0 || errno == ENOENT || errno == EISDIR);
    snprintf(aside, sizeof(aside), "%s/aside", rm->dir);
    if (access(aside, F_OK) == 0 && rename(aside, path) < 0) {
        char cmd[800];

        snprintf(cmd, sizeof(cmd), "rm -rf '%s'", aside);
        assert_int_equal(system(cmd), 0);
    }
}

/* A slot may have been used up. */
static void need_folder(struct room *rm, const char *tier, const char *prefix,
                        uint64_t *step)
{
    char dir[256];

    for (unsigned i = 0; i < 8; i++) {
        find(tier, prefix, dir, sizeof(dir));
        if (*dir)
            return;
        room_must_save(rm, ++*step);
    }
}

static void plant_in(struct room *rm, const char *tier)
{
    uint64_t step = 51;
    unsigned refused = 0;
    char path[700];

    for (uint64_t s = 40; s < 46; s++) /* enough for a slot */
        room_must_save(rm, s);
    for (size_t i = 0; i < WR_ARRAY_LEN(plants); i++) {
        uint64_t before, after;
        int r;

        need_folder(rm, tier, plants[i].in, &step);
        before = room_must_restore(rm, WEIR_LATEST);
        put_plant(rm, tier, &plants[i], ++step, path);
        room_canary_note(rm); /* a hard link changes no time of these */
        r = try_save(rm, step);
        refused += r < 0;
        room_canary_check(rm);
        remove_plant(rm, path);
        room_canary_note(rm);
        after = room_must_restore(rm, WEIR_LATEST);
        if (after != (r == 0 ? step : before) && after != step)
            fail_msg("plant %zu: %u was there, %u is", i, (unsigned)before,
                     (unsigned)after);
        room_must_save(rm, ++step);
        assert_int_equal(room_must_restore(rm, WEIR_LATEST), step);
    }
    assert_true(refused > 0); /* a link for the lock cannot be gone round */
}

static void links_in_one_tier(void **state)
{
    plant_in(*state, ((struct room *)*state)->fast);
}

static void links_in_the_fast_tier(void **state)
{
    plant_in(*state, ((struct room *)*state)->fast);
}

static void links_in_the_slow_tier(void **state)
{
    plant_in(*state, ((struct room *)*state)->slow);
}

/* --- a folder that becomes a link and a folder again, all the time --- */

struct swapper {
    char a[600], b[600];
    atomic_bool stop;
    atomic_uint swaps;
};

static void *swap(void *arg)
{
    struct swapper *s = arg;

    while (!s->stop)
        if (renameat2(AT_FDCWD, s->a, AT_FDCWD, s->b, RENAME_EXCHANGE) == 0)
            s->swaps++;
    return NULL;
}

static void swap_while_saving(struct room *rm, const char *prefix)
{
    struct swapper s = {.stop = false};
    char name[256];
    pthread_t thread;
    struct stat sb;

    find(rm->fast, prefix, name, sizeof(name));
    assert_true(*name);
    snprintf(s.a, sizeof(s.a), "%s/%s", rm->fast, name);
    snprintf(s.b, sizeof(s.b), "%s/swapped", rm->dir);
    assert_int_equal(symlink(room_at(rm->canary, "dir"), s.b), 0);
    assert_int_equal(pthread_create(&thread, NULL, swap, &s), 0);
    for (unsigned i = 0; i < 30; i++)
        try_save(rm, 1000 + i);
    s.stop = true;
    assert_int_equal(pthread_join(thread, NULL), 0);
    room_canary_check(rm);
    if (lstat(s.a, &sb) == 0 && S_ISLNK(sb.st_mode))
        assert_int_equal(
            renameat2(AT_FDCWD, s.a, AT_FDCWD, s.b, RENAME_EXCHANGE), 0);
    if (lstat(s.b, &sb) == 0 && S_ISLNK(sb.st_mode))
        assert_int_equal(unlink(s.b), 0);
}

static void folders_that_become_links(void **state)
{
    struct room *rm = *state;

    for (uint64_t s = 40; s < 46; s++)
        room_must_save(rm, s);
    swap_while_saving(rm, ".weir");
    room_must_save(rm, 2000);
    assert_int_equal(room_must_restore(rm, WEIR_LATEST), 2000);
}

/* --- wrong bytes --- */

static void flip(const char *path, off_t at)
{
    int fd = open(path, O_RDWR);
    uint8_t byte;

    assert_true(fd >= 0);
    if (at < 0)
        at += lseek(fd, 0, SEEK_END);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 0x01;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

struct told {
    unsigned damaged;
    char text[600];
};

static void hear(void *arg, const weir_ckpt_checked *c)
{
    struct told *t = arg;

    if (c->code == 0)
        return;
    t->damaged++;
    snprintf(t->text, sizeof(t->text), "%s", c->text);
}

static void check_damaged(struct room *rm, const char *file, bool data)
{
    struct told told = {0};
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    weir_err err;

    room_config(rm, NULL, NULL, &cfg);
    cfg.role = WEIR_CKPT_READ;
    assert_int_equal(weir_ckpt_open(&c, &cfg, NULL), 0);
    assert_int_equal(weir_ckpt_verify(c, 2, hear, &told, &err), 1);
    assert_int_equal(told.damaged, 1);
    if (!strstr(told.text, file) || (data && !strstr(told.text, "bytes ")))
        fail_msg("'%s' does not say '%s'", told.text, file);
    weir_ckpt_close(&c, NULL);
}

static void flipped_bytes(void **state)
{
    static const struct {
        const char *name;
        off_t at; /* from the end when negative */
        bool data;
    } places[] = {
        {SHARD, 0, false},       {SHARD, 3, false},
        {SHARD, 20, false},      {SHARD, 4000, false},
        {SHARD, 4096, true},     {SHARD, -1, true},
        {SHARD, -9000, true},    {"MANIFEST", 0, false},
        {"MANIFEST", 60, false}, {"MANIFEST", -2, false},
    };
    struct room *rm = *state;
    char path[700], shown[100];

    room_must_save(rm, 1);
    room_must_save(rm, 2);
    for (size_t i = 0; i < WR_ARRAY_LEN(places); i++) {
        uint64_t found;

        snprintf(shown, sizeof(shown), "step-000000000002/%s", places[i].name);
        snprintf(path, sizeof(path), "%s/%s", rm->fast, shown);
        flip(path, places[i].at);
        check_damaged(rm, shown, places[i].data);
        /* The other tier's copy, else the older step. */
        found = room_must_restore(rm, WEIR_LATEST);
        assert_int_equal(found, rm->tiers == 2 ? 2 : 1);
        assert_int_equal(room_has(rm, 2), rm->tiers == 2);
        flip(path, places[i].at);
        assert_int_equal(room_must_restore(rm, WEIR_LATEST), 2);
    }
}

/* --- a second writer --- */

/* A process that saves step 10, and one more for each byte that it is sent; it
 * answers with what came of it. */
struct other {
    pid_t pid;
    int to, from;
};

static void other_main(struct room *rm, int from, int to)
{
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    uint64_t step = 10;
    weir_err err;
    char byte;
    int r;

    room_config(rm, NULL, NULL, &cfg);
    r = weir_ckpt_open(&c, &cfg, &err);
    while (r == 0 || step > 10) {
        r = room_save(rm, c, step++, WEIR_LEVEL_FAST, &err);
        if (write(to, &r, sizeof(r)) != sizeof(r) || read(from, &byte, 1) != 1)
            break;
    }
    _exit(0);
}

static int hear_of(struct other *o)
{
    int r;

    assert_int_equal(read(o->from, &r, sizeof(r)), sizeof(r));
    return r;
}

static struct other start_other(struct room *rm)
{
    int there[2], back[2];
    struct other o;

    assert_int_equal(pipe(there), 0);
    assert_int_equal(pipe(back), 0);
    o.pid = fork();
    assert_true(o.pid >= 0);
    if (o.pid == 0) {
        close(there[1]);
        close(back[0]);
        other_main(rm, there[0], back[1]);
    }
    close(there[0]);
    close(back[1]);
    o.to = there[1];
    o.from = back[0];
    assert_int_equal(hear_of(&o), 0);
    return o;
}

static void end_other(struct other *o)
{
    kill(o->pid, SIGKILL);
    assert_int_equal(waitpid(o->pid, NULL, 0), o->pid);
    close(o->to);
    close(o->from);
}

static void second_writers(struct room *rm, bool stopped)
{
    struct other o = start_other(rm);
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    weir_err err;

    room_config(rm, NULL, NULL, &cfg);
    cfg.keep_last = 4; /* 10, 11 (if it is done before it sleeps), 100, 101 */
    assert_int_equal(weir_ckpt_open(&c, &cfg, &err), WEIR_EBUSY);
    assert_null(c);
    /* The slow tier is claimed first. */
    assert_non_null(strstr(err.msg, cfg.slow ? rm->slow : rm->fast));
    if (stopped) {
        assert_int_equal(write(o.to, "x", 1), 1);
        kill(o.pid, SIGSTOP); /* somewhere in its save, or before */
    }
    cfg.take_over = 1;
    if (weir_ckpt_open(&c, &cfg, &err) < 0)
        fail_msg("%s", err.msg);
    if (room_save(rm, c, 100, WEIR_LEVEL_VERIFIED, &err) < 0)
        fail_msg("%s", err.msg);
    if (stopped)
        kill(o.pid, SIGCONT);
    else
        assert_int_equal(write(o.to, "x", 1), 1);
    if (!stopped || hear_of(&o) == 0) { /* it may have been done before */
        if (stopped)
            assert_int_equal(write(o.to, "x", 1), 1);
        assert_int_equal(hear_of(&o), WEIR_EFENCED);
        assert_false(room_has(rm, stopped ? 12 : 11));
    }
    if (room_save(rm, c, 101, WEIR_LEVEL_VERIFIED, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(weir_ckpt_close(&c, &err), 0);
    end_other(&o);
    assert_int_equal(room_must_restore(rm, WEIR_LATEST), 101);
    assert_int_equal(room_must_restore(rm, 10), 10);
    room_must_save(rm, 102);
}

static void a_second_writer(void **state)
{
    second_writers(*state, /* stopped= */ false);
}

static void a_writer_that_slept(void **state)
{
    second_writers(*state, /* stopped= */ true);
}

#define ONE(fn)                                                                \
    {                                                                          \
#fn " (one tier)", fn, room_setup_one, room_teardown, NULL             \
    }
#define TWO(fn)                                                                \
    {                                                                          \
#fn " (two tiers)", fn, room_setup_two, room_teardown, NULL            \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(links_in_one_tier),
        TWO(links_in_the_fast_tier),
        TWO(links_in_the_slow_tier),
        ONE(folders_that_become_links),
        TWO(folders_that_become_links),
        ONE(flipped_bytes),
        TWO(flipped_bytes),
        ONE(a_second_writer),
        TWO(a_second_writer),
        ONE(a_writer_that_slept),
        TWO(a_writer_that_slept),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
