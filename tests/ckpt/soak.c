/* soak.c - thousands of saves with kills and faults: nothing lost, no growth.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     soak [SAVES [SEED]]
 *
 * A trainer (a child process) saves step after step at random levels through
 * storage that fails now and then. It is killed at random moments and started
 * again, where it must find at least what it was promised, byte for byte. One
 * part of the saves is made by a trainer that lives on: its memory and its
 * descriptors must not grow. What is on the disk must stay within what
 * retention allows, all the time. */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "scenario.h"
#include "weir/ckpt_manage.h"

#define SALT      1
#define KEEP      3
#define LIFE_MS   60 /* of a trainer, on average */
#define STEADY    4  /* one part in so many is saved by one that lives on */
#define DISK_MAX  ((uint64_t)2 << 20) /* both tiers: (KEEP + 1 and 4) * 40 KB */
#define GROWTH_KB 2048

/* What the parent knows, though the trainer dies: shared memory. */
struct promises {
    _Atomic uint64_t begun;         /* newest step that was begun */
    _Atomic uint64_t fast, slow;    /* newest step that is promised there */
    _Atomic uint64_t saved, errors; /* saves that returned 0, and others */
    _Atomic int wrong;              /* the trainer found something wrong */
};

struct soak {
    struct promises *p; /* shared */
    char dir[64];
    struct wr_rng rng;
};

static void wrong(struct soak *s, const char *what, const char *why)
{
    fprintf(stderr, "soak: %s: %s\n", what, why);
    s->p->wrong = 1;
}

/* --- the trainer --- */

/* Faults of one life, each rare enough that most saves succeed. None at all in
 * every third life. */
static const char *pick_faults(struct wr_rng *rng, bool any)
{
    static const char *const rules[] = {
        "write-eio@%41",   "write-short@%37", "sync-eio@%23",
        "write-enospc@53", "close-eio@%61",   "rename-eio@%17",
        "syncdir-eio@%19", "create-enospc@9", "rename-late-eio@%29",
        "resize-enospc@7", "remove-eio@%31",  "sync-eio@5,sync-eio@6",
        "list-eio@%43",    "stat-eio@%97",    "open-eio@%47",
    };

    if (!any || wr_rng_below(rng, 3) == 0)
        return NULL;
    return rules[wr_rng_below(rng, WR_ARRAY_LEN(rules))];
}

static void url(char *buf, size_t cap, const char *rules, const char *dir,
                const char *tier)
{
    snprintf(buf, cap, "%s%s%s%s/%s", rules ? "fault:" : "", rules ? rules : "",
             rules ? ":" : "", dir, tier);
}

static int open_store(struct soak *s, bool faults, weir_ckpt **ret,
                      weir_err *err)
{
    char fast[200], slow[200];
    weir_ckpt_config cfg;

    url(fast, sizeof(fast), pick_faults(&s->rng, faults), s->dir, "fast");
    url(slow, sizeof(slow), pick_faults(&s->rng, faults), s->dir, "slow");
    weir_ckpt_defaults(&cfg);
    cfg.fast = fast;
    cfg.slow = slow;
    cfg.keep_last = KEEP;
    cfg.threads = 1;
    cfg.max_behind = 1 + (uint32_t)wr_rng_below(&s->rng, 3);
    cfg.behind = (enum weir_behind)wr_rng_below(&s->rng, 3);
    return weir_ckpt_open(ret, &cfg, err);
}

static uint64_t step_of(const weir_ckpt_found *f)
{
    return f ? f->step : 0;
}

/* Restores without faults, as whoever starts again does, and compares. Returns
 * the step, 0: none. */
static uint64_t look(struct soak *s, const char *tier, uint64_t due)
{
    weir_ckpt_config cfg;
    weir_ckpt_found *f = NULL;
    struct scn_state state;
    weir_ckpt *c = NULL;
    weir_err err;
    char near[200], far[200], why[200];
    uint64_t found = 0;
    int r;

    url(near, sizeof(near), NULL, s->dir, tier);
    url(far, sizeof(far), NULL, s->dir, "slow");
    weir_ckpt_defaults(&cfg);
    cfg.fast = near;
    cfg.slow = !strcmp(tier, "fast") ? far : NULL;
    cfg.role = WEIR_CKPT_READ;
    scn_state_make(&state, 0);
    r = weir_ckpt_open(&c, &cfg, &err);
    if (r == 0)
        r = weir_ckpt_restore(c, WEIR_LATEST, state.tensors, SCN_FIXED, &f,
                              &err);
    found = step_of(f);
    if (r < 0 && !(r == WEIR_ENOENT && due == 0)) {
        wrong(s, "restore", err.msg);
    } else if (found < due) {
        snprintf(why, sizeof(why),
                 "%s: step %" PRIu64 " was promised, %" PRIu64 " is there",
                 tier, due, found);
        wrong(s, "lost", why);
    } else if (found && scn_state_differs(&state, SCN_FIXED, found, SALT)) {
        wrong(s, "torn", "the tensors are not those of the step");
    } else if (f && f->passed_over_count) {
        wrong(s, "torn", f->passed_over[0]);
    }
    weir_ckpt_found_free(&f);
    scn_state_done(&state);
    weir_ckpt_close(&c, NULL);
    return found;
}

/* Writes down what was promised: only ever more. */
static void promise(_Atomic uint64_t *what, uint64_t step)
{
    if (step > *what)
        *what = step;
}

static void save_one(struct soak *s, weir_ckpt *c, uint64_t step)
{
    struct scn_event e = {.level = WEIR_LEVEL_SNAPSHOT +
                                   (uint32_t)wr_rng_below(&s->rng, 4),
                          .step = step,
                          .salt = SALT};
    weir_err err;
    int r;

    promise(&s->p->begun, step);
    r = scn_save(c, &e, NULL, &err);
    if (r == 0 && e.level >= WEIR_LEVEL_FAST)
        promise(&s->p->fast, step);
    if (r == 0 && e.level >= WEIR_LEVEL_SLOW)
        promise(&s->p->slow, step);
    if (r == 0)
        s->p->saved++;
    else if (r < 0)
        s->p->errors++;
}

/* Saves until it is killed, or `count` times. */
static void train(struct soak *s, uint64_t count, bool faults)
{
    weir_ckpt *c;
    weir_err err;
    uint64_t step = look(s, "fast", s->p->fast);

    /* Steps that were begun may come up later: each has its own number. */
    step = WR_MAX(step, s->p->begun);
    if (open_store(s, faults, &c, &err) < 0) {
        s->p->errors++;
        if (!faults)
            wrong(s, "open", err.msg);
        return;
    }
    for (uint64_t i = 0; i < count && !s->p->wrong; i++)
        save_one(s, c, ++step);
    if (weir_ckpt_close(&c, &err) < 0 && !faults)
        wrong(s, "close", err.msg);
}

/* --- growth --- */

static uint64_t resident_kb(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long size = 0, resident = 0;

    if (f && fscanf(f, "%lu %lu", &size, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

static unsigned descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/* One trainer that lives on. */
static void train_steady(struct soak *s, uint64_t count)
{
    uint64_t kb;
    unsigned fds;
    char why[200];

    train(s, count / 4, /* faults= */ false); /* warm */
    kb = resident_kb();
    fds = descriptors();
    for (int i = 0; i < 3; i++)
        train(s, count / 4, /* faults= */ false);
    if (resident_kb() > kb + GROWTH_KB) {
        snprintf(why, sizeof(why), "from %" PRIu64 " to %" PRIu64 " KB", kb,
                 resident_kb());
        wrong(s, "memory grows", why);
    }
    if (descriptors() > fds)
        wrong(s, "descriptors", "are not closed");
    printf("steady: %" PRIu64 " saves, memory %" PRIu64 " -> %" PRIu64
           " KB, %u -> %u descriptors\n",
           count, kb, resident_kb(), fds, descriptors());
    fflush(stdout);
}

/* nftw has no argument of its own. */
static uint64_t disk_bytes;

static int add_size(const char *path, const struct stat *sb, int type,
                    struct FTW *where)
{
    (void)path;
    (void)type;
    (void)where;
    disk_bytes += (uint64_t)sb->st_blocks * 512;
    return 0;
}

static void check_disk(struct soak *s)
{
    char why[200];

    disk_bytes = 0;
    nftw(s->dir, add_size, 16, FTW_PHYS);
    if (disk_bytes > DISK_MAX) {
        snprintf(why, sizeof(why), "%" PRIu64 " bytes", disk_bytes);
        wrong(s, "the disk fills", why);
    }
}

/* --- the parent --- */

/* A child that trains; killed after a while, when `mortal`. */
static void live(struct soak *s, uint64_t life, bool mortal, uint64_t count)
{
    pid_t pid;
    int status;

    s->rng = (struct wr_rng){s->rng.seed, life, 0};
    fflush(NULL);
    pid = fork();
    if (pid < 0) {
        wrong(s, "fork", strerror(errno));
        return;
    }
    if (pid == 0) {
        if (mortal)
            train(s, UINT64_MAX, /* faults= */ true);
        else
            train_steady(s, count);
        _exit(0);
    }
    if (mortal) {
        uint64_t ms = 5 + wr_rng_below(&s->rng, 2 * LIFE_MS);

        wr_clock_sleep_until(wr_clock_ns() + ms * WR_NS_PER_MS);
        kill(pid, SIGKILL);
    }
    if (waitpid(pid, &status, 0) < 0 ||
        (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) ||
        (WIFEXITED(status) && WEXITSTATUS(status) != 0))
        wrong(s, "the trainer", "ended by itself");
}

static int remove_entry(const char *path, const struct stat *sb, int type,
                        struct FTW *where)
{
    (void)sb;
    (void)type;
    (void)where;
    return remove(path);
}

static void soak(struct soak *s, uint64_t saves)
{
    uint64_t life = 0;

    live(s, life++, /* mortal= */ false, saves / STEADY);
    while (s->p->saved < saves && !s->p->wrong) {
        live(s, life++, /* mortal= */ true, 0);
        look(s, "fast", s->p->fast);
        if (s->p->slow)
            look(s, "slow", s->p->slow);
        /* The next trainer takes away what the last one left. */
        check_disk(s);
    }
    printf("%" PRIu64 " saves, %" PRIu64 " errors told, %" PRIu64
           " trainers killed, newest step %" PRIu64 "\n",
           s->p->saved, s->p->errors, life - 1, s->p->begun);
}

int main(int argc, char **argv)
{
    struct soak s = {.dir = "/tmp/weir-soak-XXXXXX"};
    const char *tmp = getenv("TMPDIR");
    int code;

    if (tmp)
        snprintf(s.dir, sizeof(s.dir), "%s/weir-soak-XXXXXX", tmp);
    s.rng.seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    s.p = mmap(NULL, sizeof(*s.p), PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s.p == MAP_FAILED || !mkdtemp(s.dir)) {
        perror("soak");
        return 1;
    }
    soak(&s, argc > 1 ? strtoull(argv[1], NULL, 10) : 2000);
    code = s.p->wrong != 0;
    nftw(s.dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return code;
}
