/* turns.c - machines take turns on one slow tier, thousands of times over.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ckpt-turns [COUNT [FIRST [show]]]
 *
 * COUNT scenarios (or WEIR_TURNS of the environment) from seed FIRST on, shown
 * also when all is well. Clocks
 * are wrong, fast tiers are left behind, lost and found again, the slow one is
 * not mounted or hangs, processes die. Nothing that was acknowledged may be
 * lost, outranked or shadowed, and whatever is refused names the command that
 * resolves it. */
#include "turns.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scratch.h"
#include "turns_clock.h"

#define COUNT   2000
#define LENGTH  24  /* operations of a scenario, at most */
#define LIMIT_S 100 /* of one scenario: it hangs */
#define WORKERS 2
#define SHOWN   3 /* failures of a worker */

struct work {
    char dir[100];
    uint64_t first, count;
    unsigned worker;
    bool verbose;
    struct turns *w; /* shared with children */
};

static void show_folder(const struct turns *w, const char *name,
                        const struct turns_seen *is)
{
    fprintf(stderr, "%s:", name);
    for (unsigned i = 0; i < is->count; i++) {
        const struct turns_save *s = &w->saves[is->copies[i].salt];

        fprintf(stderr, " %llu (save %u, generation %llu%s%s)",
                (unsigned long long)s->step, is->copies[i].salt,
                (unsigned long long)s->generation,
                s->from < TURNS_SAVES ? ", continues" : "",
                is->copies[i].aside ? ", aside" : "");
        if (s->from < TURNS_SAVES)
            fprintf(stderr, " %u", s->from);
    }
    fputc('\n', stderr);
}

static void show(const struct turns *w, uint64_t seed, const char *why)
{
    char name[] = "a/0";

    show_folder(w, "slow", &w->on_slow);
    for (unsigned i = 0; i < TURNS_FOLDERS; i++) {
        name[0] = (char)('a' + i / 2);
        name[2] = (char)('0' + i % 2);
        show_folder(w, name, &w->on[i]);
    }
    fprintf(stderr, "%s\nseed %llu: %s\n", w->log, (unsigned long long)seed,
            why);
}

/* The one that is under way, for the handler. */
static struct turns *volatile under_way;

static void give_up(int sig)
{
    (void)sig;
    if (under_way && write(2, under_way->log, under_way->log_len) > 0)
        (void)!write(2, "it hangs\n", 9);
    _exit(3);
}

static bool play(struct work *k, uint64_t seed)
{
    struct turns *w = k->w;
    uint64_t length;

    memset(w, 0, sizeof(*w));
    w->rng = (struct wr_rng){.seed = seed};
    snprintf(w->dir, sizeof(w->dir), "%.80s/%u", k->dir, k->worker);
    mkdir(w->dir, 0777);
    turns_say(w, "seed %llu\n", (unsigned long long)seed);
    alarm(LIMIT_S);
    turns_begin(w);
    length = 4 + wr_rng_below(&w->rng, LENGTH - 3);
    for (uint64_t i = 0; i < length && !w->why[0]; i++)
        turns_step(w);
    if (!w->why[0])
        turns_end(w);
    if (w->why[0]) {
        show(w, seed, w->why);
        unlink(w->hung);
        for (unsigned n = 0; n < TURNS_NODES; n++)
            weir_ckpt_close(&w->nodes[n].c, NULL);
    }
    if (k->verbose)
        printf("%s\n", w->log);
    alarm(0);
    turns_clock_skew(0);
    scratch_remove(w->dir);
    return !w->why[0];
}

static int play_share(struct work *k)
{
    unsigned failed = 0;
    uint64_t done = 0;

    k->w = mmap(NULL, sizeof(*k->w), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (k->w == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    under_way = k->w;
    signal(SIGALRM, give_up);
    for (uint64_t i = k->worker; i < k->count && failed < SHOWN; i += WORKERS) {
        failed += !play(k, k->first + i);
        done++;
    }
    printf("%llu scenarios, %u failed\n", (unsigned long long)done, failed);
    fflush(stdout);
    return failed > 0;
}

static int play_all(void *arg)
{
    struct work *k = arg;
    int bad = 0, status;

    for (k->worker = 0; k->worker < WORKERS; k->worker++) {
        pid_t pid = fork();

        if (pid == 0)
            _exit(play_share(k));
        bad |= pid < 0;
    }
    while (wait(&status) > 0)
        bad |= status != 0;
    return bad;
}

int main(int argc, char **argv)
{
    const char *env = getenv("WEIR_TURNS");
    struct work k = {.first = 1, .count = COUNT};
    int r;

    if (env)
        k.count = strtoull(env, NULL, 10);
    if (argc > 1)
        k.count = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        k.first = strtoull(argv[2], NULL, 10);
    k.verbose = argc > 3;
    if (!scratch_make(k.dir, sizeof(k.dir), "weir-turns", /* memory= */ true))
        return 1;
    r = scratch_guard(play_all, &k);
    scratch_remove(k.dir);
    return r != 0;
}
