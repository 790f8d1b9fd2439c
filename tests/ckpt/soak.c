/* soak.c - thousands of saves with kills and faults: nothing lost, no growth.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     soak [SAVES [SEED]]
 *
 * A trainer (a child process) saves step after step at random levels through
 * storage that fails now and then. It is killed at random moments and started
 * again; between its lives at least what it was promised must be there, byte
 * for byte. One part of the saves is made by a trainer that lives on: its
 * memory and its descriptors must not grow. What is on the disk must stay
 * within what retention allows, all the time.
 *
 * Most of it is done in memory, where syncs cost nothing and a kill shows the
 * same; the rest on the disk of TMPDIR. At the end a trainer that believes in a
 * promise before the save has returned must be caught. */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
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
#include "said.h"
#include "scenario.h"
#include "scratch.h"
#include "weir/ckpt_manage.h"

#define SALT      1
#define KEEP      3
#define LIFE      8    /* saves of a trainer at most, and then a moment */
#define MOMENT_US 4000 /* at most */
#define LIFE_MS   5000 /* for one that does not get on */
#define STEADY    4    /* one part in so many is saved by one that lives on */
#define ON_DISK   8    /* one part in so many is not saved in memory */
#define LIVES_MAX 200  /* in which a wrong trainer must be caught */
#define DISK_MAX  ((uint64_t)2 << 20) /* both tiers: (KEEP + 1 and 4) * 40 KB */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GROWTH_KB                                                              \
    ((uint64_t)1 << 20) /* they keep what is freed, and look for
                                         leaks themselves */
#else
#define GROWTH_KB 8192 /* of pools that threads make when they meet */
#endif

/* What the parent knows, though the trainer dies: shared memory. */
struct promises {
    _Atomic uint64_t begun;         /* newest step that was begun */
    _Atomic uint64_t fast, slow;    /* newest step that is promised there */
    _Atomic uint64_t saved, errors; /* saves that returned 0, and others */
    _Atomic int wrong;              /* the trainer found something wrong */
};

struct soak {
    struct promises *p; /* shared */
    char dir[100];
    struct wr_rng rng;
    bool early;  /* promises count before the save: to be caught */
    bool broken; /* a trainer ended as none should, or said something */
    int said;    /* what trainers said */
};

static void wrong(struct soak *s, const char *what, const char *why)
{
    if (!s->early)
        fprintf(stderr, "soak: %s: %s\n", what, why);
    s->p->wrong = 1;
}

/* Nothing that a wrong trainer could be caught by. */
static void broken(struct soak *s, const char *what, const char *why)
{
    printf("soak: %s %s\n", what, why);
    s->broken = true;
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

/* Restores without faults, as whoever starts again does, and compares. */
static void look(struct soak *s, const char *tier, uint64_t due)
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
    cfg.threads = 1;
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
    if (s->early)
        promise(&s->p->fast, step);
    r = scn_save(c, &e, NULL, &err);
    if (r == 0 && e.level >= WEIR_LEVEL_FAST)
        promise(&s->p->fast, step);
    if (r == 0 && e.level >= WEIR_LEVEL_SLOW)
        promise(&s->p->slow, step);
    if (r == 0)
        s->p->saved++;
    else if (r < 0)
        s->p->errors++;
    else /* skipped: it comes again when there is room */
        weir_ckpt_wait(c, WEIR_LATEST, WEIR_LEVEL_SLOW, LIFE_MS, NULL);
}

/* Saves until it is killed, or `count` times. */
static void train(struct soak *s, uint64_t count, bool faults)
{
    weir_ckpt *c;
    weir_err err;
    uint64_t step = s->p->begun; /* one that was begun may come up later */

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

/* Lets a trainer live for some saves, none even, and a moment. */
static void let_live(struct soak *s, pid_t pid)
{
    uint64_t last = s->p->begun + wr_rng_below(&s->rng, LIFE + 1);
    uint64_t moment = wr_rng_below(&s->rng, MOMENT_US) * 1000;
    uint64_t end = wr_clock_ns() + LIFE_MS * WR_NS_PER_MS;
    siginfo_t gone = {0};

    while (s->p->begun < last && wr_clock_ns() < end && !gone.si_pid) {
        wr_clock_sleep_until(wr_clock_ns() + WR_NS_PER_MS / 5);
        waitid(P_PID, (id_t)pid, &gone, WEXITED | WNOHANG | WNOWAIT);
    }
    wr_clock_sleep_until(wr_clock_ns() + moment);
}

/* A child that trains; killed after a while, when `mortal`. */
static void live(struct soak *s, uint64_t life, bool mortal, uint64_t count)
{
    char how[100];
    pid_t pid;
    int status;

    s->rng = (struct wr_rng){s->rng.seed, life, 0};
    fflush(NULL);
    pid = fork();
    if (pid < 0) {
        broken(s, "fork:", strerror(errno));
        return;
    }
    if (pid == 0) {
        said_by_me(s->said);
        if (mortal)
            train(s, UINT64_MAX, /* faults= */ !s->early);
        else
            train_steady(s, count);
        exit(0); /* not _exit: leaks are looked for here */
    }
    if (mortal) {
        let_live(s, pid);
        kill(pid, SIGKILL);
    }
    if (waitpid(pid, &status, 0) < 0) {
        broken(s, "waitpid:", strerror(errno));
        return;
    }
    if (WIFEXITED(status) ? WEXITSTATUS(status) != 0
                          : !mortal || WTERMSIG(status) != SIGKILL) {
        said_end(status, how, sizeof(how));
        broken(s, "the trainer", how);
    }
    if (said_print(s->said))
        broken(s, "the trainer", "said what is above");
}

static void live_and_look(struct soak *s, uint64_t life)
{
    live(s, life, /* mortal= */ true, 0);
    look(s, "fast", s->p->fast);
    if (s->p->slow)
        look(s, "slow", s->p->slow);
    /* The next trainer takes away what the last one left. */
    check_disk(s);
}

static void soak(struct soak *s, uint64_t saves)
{
    uint64_t life = 0;

    live(s, life++, /* mortal= */ false, saves / STEADY);
    while (s->p->saved < saves && !s->p->wrong && !s->broken)
        live_and_look(s, life++);
    printf("%s: %" PRIu64 " saves, %" PRIu64 " errors told, %" PRIu64
           " trainers killed, newest step %" PRIu64 "\n",
           s->dir, s->p->saved, s->p->errors, life - 1, s->p->begun);
}

/* --- the places --- */

struct order {
    uint64_t saves, seed;
    char memory[100], disk[100], early[100];
};

/* Returns whether it went as it should: an early promise is to be found
 * wrong. */
static bool soak_in(const struct order *o, const char *dir, uint64_t saves)
{
    struct soak s = {
        .rng = {o->seed, 0, 0}, .early = saves == 0, .said = said_new()};

    snprintf(s.dir, sizeof(s.dir), "%s", dir);
    s.p = mmap(NULL, sizeof(*s.p), PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s.p == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    if (saves)
        soak(&s, saves);
    for (uint64_t i = 0; i < LIVES_MAX && s.early && !s.p->wrong && !s.broken;
         i++)
        live_and_look(&s, i);
    close(s.said);
    if (s.early)
        printf("early promises: %s\n", s.p->wrong ? "caught" : "NOT CAUGHT");
    return !s.broken && (s.p->wrong != 0) == s.early;
}

static int soak_all(void *arg)
{
    const struct order *o = arg;
    uint64_t on_disk = o->saves / ON_DISK;

    return soak_in(o, o->memory, o->saves - on_disk) &&
                   soak_in(o, o->disk, on_disk) && soak_in(o, o->early, 0)
               ? 0
               : 1;
}

int main(int argc, char **argv)
{
    struct order o = {
        .saves = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000,
        .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
    };
    int code = 1;

    if (scratch_make(o.memory, sizeof(o.memory), "weir-soak", true) &&
        scratch_make(o.early, sizeof(o.early), "weir-soak", true) &&
        scratch_make(o.disk, sizeof(o.disk), "weir-soak", false))
        code = scratch_guard(soak_all, &o);
    scratch_remove(o.memory);
    scratch_remove(o.early);
    scratch_remove(o.disk);
    return code != 0;
}
