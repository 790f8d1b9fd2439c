/* ranks.c - commands that several processes run together.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "cli/interrupt.h"

#define LOOK_MS 100

static void pause_ms(unsigned ms)
{
    wr_clock_sleep_until(wr_clock_ns() + ms * WR_NS_PER_MS);
}

static void *watch_main(void *arg)
{
    struct wr_ranks_watch *w = arg;

    while (!w->stop) {
        if (wr_comm_alive(w->comm, &w->why) == 0) {
            pause_ms(LOOK_MS);
            continue;
        }
        w->lost = true;
        if (w->on_lost)
            w->on_lost(w->arg);
        else
            wr_interrupt_stop();
        break;
    }
    return NULL;
}

int wr_ranks_watch_start(struct wr_ranks_watch *w,
                         const struct wr_comm_config *cfg, weir_err *err)
{
    struct wr_comm_config own = *cfg;
    int r;

    own.channel = "watch";
    r = wr_comm_open(&own, &w->comm, err);
    if (r == 0)
        r = wr_thread_start_lean(&w->thread, "weir-ranks", watch_main, w, err);
    w->started = r == 0;
    return r;
}

void wr_ranks_watch_stop(struct wr_ranks_watch *w)
{
    w->stop = true;
    if (w->started)
        pthread_join(w->thread, NULL);
    w->started = false;
}

bool wr_ranks_watch_lost(const struct wr_ranks_watch *w, unsigned ms)
{
    for (unsigned waited = 0; w->started && !w->lost && waited < ms;
         waited += LOOK_MS)
        pause_ms(LOOK_MS);
    return w->lost;
}

void wr_ranks_watch_close(struct wr_ranks_watch *w, const weir_err *why)
{
    wr_ranks_watch_stop(w);
    if (w->comm && why)
        wr_comm_give_up(w->comm, why);
    wr_comm_close(w->comm);
    w->comm = NULL;
}

#define MEET_MS 60000                    /* until all ranks have come */
#define NEWS_MS 3000                     /* until all know who died */
#define CALL_MS (UINT64_C(86400) * 1000) /* the dead are noticed much earlier */

int wr_ranks_find(struct wr_ranks *r, struct wr_cli *cli, weir_err *err)
{
    int code;

    *r = (struct wr_ranks){0};
    code = wr_launch_find(&r->launch, err);
    if (code < 0 || r->launch.rank == 0)
        return code;
    r->nowhere = fopen("/dev/null", "we");
    if (!r->nowhere)
        return wr_fail_errno(err, errno, "'/dev/null': cannot open");
    cli->out = r->nowhere;
    cli->quiet = true;
    cli->hushed = true;
    return 0;
}

void wr_ranks_alone(struct wr_ranks *r)
{
    *r = (struct wr_ranks){.launch = {.world = 1, .local_world = 1}};
}

int wr_ranks_meet(struct wr_ranks *r, weir_err *err)
{
    struct wr_comm_config cfg = {
        .url = r->launch.world > 1 ? r->launch.url : NULL,
        .rank = r->launch.rank,
        .world = r->launch.world,
        .timeout_ms = MEET_MS,
    };
    int code = wr_comm_open(&cfg, &r->comm, err);

    if (code < 0 || !wr_ranks_several(r))
        return code;
    r->comm->timeout_ms = CALL_MS;
    code = wr_ranks_watch_start(&r->watch, &cfg, err);
    if (code < 0 && err)
        wr_comm_give_up(r->comm, err);
    return code;
}

unsigned wr_ranks_threads(const struct wr_ranks *r)
{
    unsigned cores = wr_cpu_count();
    long all = sysconf(_SC_NPROCESSORS_ONLN);

    if (!wr_ranks_several(r) || all < 1 || cores < (unsigned long)all)
        return cores;
    return WR_MAX(cores / WR_MAX(r->launch.local_world, 1u), 1u);
}

int wr_ranks_in_turn(struct wr_ranks *r, int (*first)(void *arg, weir_err *err),
                     void *arg, weir_err *err)
{
    weir_err why;
    int code = wr_ranks_speaks(r) ? first(arg, &why) : 0;

    if (!wr_ranks_several(r))
        return code < 0 ? wr_fail_as(err, code, &why) : code;
    code = wr_comm_agree(r->comm, code, &why, err);
    if (code < 0)
        return code;
    if (!wr_ranks_speaks(r))
        code = first(arg, &why);
    return wr_comm_agree(r->comm, code, &why, err);
}

/* Whether `parts[k]` is the first one with its bytes. */
static bool is_new(const struct wr_comm_part *parts, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++)
        if (parts[i].len == parts[k].len &&
            !memcmp(parts[i].bytes, parts[k].bytes, parts[k].len))
            return false;
    return true;
}

int wr_ranks_hosts(struct wr_ranks *r, uint32_t *ret, weir_err *err)
{
    const char *host = r->launch.host;
    struct wr_comm_part *parts;
    uint32_t count = 0;
    int code = wr_comm_gather(r->comm, host, strlen(host), &parts, err);

    if (code < 0)
        return code;
    for (uint32_t k = 0; parts && k < r->launch.world; k++)
        count += is_new(parts, k);
    free(parts);
    *ret = count;
    return 0;
}

int wr_ranks_fail(const struct wr_ranks *r, const struct wr_cli *cli,
                  const char *message)
{
    if (r->launch.world == 1)
        return wr_cli_fail(cli, "%s", message);
    return wr_cli_fail(cli, "rank %u: %s", r->launch.rank, message);
}

/* Rank 0 hears of every failure, but not of its own end. */
static bool lost_first(const weir_err *why)
{
    return strstr(why->msg, "rank 0 ");
}

/* What made this rank end: the call says it, unless it was stopped because
 * another rank was lost. The end of rank 0 may have come before its reason did:
 * what came in is lost when one sends to who has left. The watch sends nothing. */
static const weir_err *reason(const struct wr_ranks *r, int code,
                              const weir_err *err)
{
    bool other = code == WEIR_ECANCELED ? !wr_interrupt_exit_code()
                                        : lost_first(err);

    return other && wr_ranks_watch_lost(&r->watch, NEWS_MS) ? &r->watch.why
                                                            : err;
}

int wr_ranks_failed(const struct wr_ranks *r, const struct wr_cli *cli,
                    int code, const weir_err *err)
{
    const weir_err *why = reason(r, code, err);
    bool stopped = why->code == WEIR_ECANCELED ||
                   (wr_ranks_several(r) && wr_interrupt_exit_code());

    if (!wr_ranks_speaks(r) && r->comm && (stopped || !lost_first(why)))
        return WR_EXIT_FAILED;
    if (stopped)
        return wr_cli_fail(cli, "interrupted: %s",
                           r->stopped ? r->stopped : "no result");
    if (wr_ranks_speaks(r))
        return wr_cli_fail(cli, "%s", why->msg);
    return wr_ranks_fail(r, cli, why->msg);
}

void wr_ranks_done(struct wr_ranks *r)
{
    uint64_t ignored;

    wr_ranks_watch_stop(&r->watch);
    if (r->comm)
        wr_comm_max(r->comm, NULL, 0, &ignored, NULL);
    wr_ranks_watch_close(&r->watch,
                         r->comm && r->comm->failed ? &r->comm->failure : NULL);
    wr_comm_close(r->comm);
    if (r->nowhere)
        fclose(r->nowhere);
}
