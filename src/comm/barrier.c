/* barrier.c - the end of a step for all ranks, in microseconds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/barrier.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/thread.h"
#include "comm/barrier_page.h"
#include "comm/comm.h"
#include "comm/wire.h"

#define LOOK_NS (100 * WR_NS_PER_MS) /* how often those that wait look around */
#define SPIN_NS UINT64_C(20000)      /* of polling before those sleep */

/* What each rank tells of itself. */
struct resident {
    uint64_t host;  /* the same for ranks that can share memory */
    uint64_t token; /* of the page */
    int32_t pid, fd;
};

struct wr_barrier {
    struct wr_comm *comm; /* borrowed */
    struct wr_page *page; /* mapped; NULL: all goes through the comm */
    int page_fd;          /* -1: none; while it is opened */
    uint32_t page_count;
    uint32_t seat;    /* this rank's number among those of its host */
    uint32_t hosts;   /* how many there are */
    uint32_t *ranks;  /* owned: those of this host, by seat */
    int *pidfds;      /* owned, by seat: -1 for none */
    bool *first;      /* owned: which ranks are the first of their host */
    uint64_t spin_ns; /* 0: there are no cores to waste */
    unsigned pieces;  /* that were shared so far; the same on all ranks */
};

/* --- opening --- */

static uint64_t mix_text(uint64_t x, const char *text, size_t len)
{
    for (size_t k = 0; k < len; k++)
        x = wr_mix64(x * 31 + (unsigned char)text[k] + 1);
    return x;
}

/* The machine since it was booted, its name, and the namespace in which process
 * numbers mean the same. */
static uint64_t host_id(void)
{
    struct stat ns = {0};
    char text[256];
    uint64_t x = 1;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));

    if (fd >= 0)
        close(fd);
    x = mix_text(x, text, n > 0 ? (size_t)n : 0);
    if (gethostname(text, sizeof(text)) == 0)
        x = mix_text(x, text, strnlen(text, sizeof(text)));
    if (stat("/proc/self/ns/pid", &ns) == 0)
        x = wr_mix64(x + ns.st_ino);
    return x;
}

static struct resident describe(const struct wr_barrier *b)
{
    struct resident me = {
        .host = host_id(), .pid = (int32_t)getpid(), .fd = b->page_fd};

    if (b->page)
        me.token = b->page->token;
    return me;
}

/* Everybody's description, on all ranks; free(). */
static int exchange(struct wr_comm *c, const struct resident *me,
                    struct resident **ret, weir_err *err)
{
    struct resident *all = NULL;
    struct wr_comm_part *parts = NULL;
    size_t len, bytes = c->world * sizeof(*all);
    char *text;
    int r = wr_comm_gather(c, me, sizeof(*me), &parts, err);

    if (r == 0 && c->rank == 0) {
        all = calloc(c->world, sizeof(*all));
        for (uint32_t k = 0; all && k < c->world; k++)
            if (parts[k].len == sizeof(*all))
                memcpy(&all[k], parts[k].bytes, sizeof(*all));
        free(parts);
    }
    if (r == 0)
        r = wr_comm_broadcast(c, all, all ? bytes : 0, &text, &len, err);
    free(all);
    if (r < 0)
        return r;
    if (len != bytes) {
        free(text);
        return wr_fail(err, WEIR_ENOMEM, "out of memory on rank 0");
    }
    *ret = (struct resident *)(void *)text;
    return 0;
}

/* Which ranks are on which host. */
static void sort_out(struct wr_barrier *b, const struct resident *all)
{
    uint32_t world = b->comm->world, own = b->comm->rank;

    b->page_count = 0;
    for (uint32_t k = 0; k < world; k++) {
        uint32_t before = 0;

        while (before < k && all[before].host != all[k].host)
            before++;
        b->first[k] = before == k;
        b->hosts += b->first[k];
        if (all[k].host != all[own].host)
            continue;
        if (k == own)
            b->seat = b->page_count;
        b->ranks[b->page_count++] = k;
    }
}

/* Whether the process died shows at a descriptor for it. Without one only the
 * comm notices. */
static void watch_processes(struct wr_barrier *b, const struct resident *all)
{
    for (uint32_t k = 0; k < b->page_count; k++)
        if (k != b->seat)
            b->pidfds[k] = (int)syscall(SYS_pidfd_open, all[b->ranks[k]].pid,
                                        0);
}

/* The first rank's page, in place of the own one. */
static int take_page(struct wr_barrier *b, const struct resident *all,
                     weir_err *err)
{
    const struct resident *first = &all[b->ranks[0]];
    uint32_t slots = b->comm->world;

    if (b->seat == 0)
        return b->page ? 0 : WEIR_ENOMEM;
    wr_page_unmap(b->page, slots);
    b->page = NULL;
    if (b->page_fd >= 0)
        close(b->page_fd);
    b->page_fd = -1;
    return wr_page_find(first->pid, first->fd, slots, first->token, &b->page,
                        err);
}

static struct wr_barrier *barrier_new(struct wr_comm *c)
{
    struct wr_barrier *b = calloc(1, sizeof(*b));

    if (!b)
        return NULL;
    b->comm = c;
    b->page_fd = -1;
    b->ranks = calloc(c->world, sizeof(*b->ranks));
    b->pidfds = calloc(c->world, sizeof(*b->pidfds));
    b->first = calloc(c->world, sizeof(*b->first));
    if (!b->ranks || !b->pidfds || !b->first) {
        wr_barrier_close(b);
        return NULL;
    }
    for (uint32_t k = 0; k < c->world; k++)
        b->pidfds[k] = -1;
    return b;
}

/* Makes a page in case this rank is the first of its host, and finds that of
 * the one that is. All ranks go without when one of them cannot. */
static int settle(struct wr_barrier *b, weir_err *err)
{
    struct resident me, *all = NULL;
    uint64_t token = 0, lacks = 0;
    int r;

    if (getrandom(&token, sizeof(token), GRND_NONBLOCK) < 0)
        token = wr_clock_ns();
    (void)wr_page_make(b->comm->world, token, &b->page, &b->page_fd, NULL);
    me = describe(b);
    r = exchange(b->comm, &me, &all, err);
    if (r < 0)
        return r;
    sort_out(b, all);
    lacks = take_page(b, all, NULL) < 0;
    if (!lacks)
        watch_processes(b, all);
    free(all);
    r = wr_comm_max(b->comm, NULL, lacks, &lacks, err);
    if (b->page_fd >= 0) /* all that need it have it */
        close(b->page_fd);
    b->page_fd = -1;
    if (r == 0 && lacks) {
        wr_page_unmap(b->page, b->comm->world);
        b->page = NULL;
    }
    /* To be woken takes longer than most ranks are late. Polling leaves the
     * core to whoever wants it, but must not keep ranks from coming. */
    if (wr_cpu_count() >= b->page_count)
        b->spin_ns = SPIN_NS;
    return r;
}

int wr_barrier_open(struct wr_comm *c, struct wr_barrier **ret, weir_err *err)
{
    struct wr_barrier *b = barrier_new(c);
    weir_err e;
    int r;

    if (!b) {
        wr_fail(&e, WEIR_ENOMEM, "out of memory");
        wr_comm_give_up(c, &e);
        return wr_fail_as(err, e.code, &e);
    }
    b->hosts = 0;
    r = c->world > 1 ? settle(b, err) : 0;
    if (r < 0) {
        wr_barrier_close(b);
        return r;
    }
    *ret = b;
    return 0;
}

void wr_barrier_close(struct wr_barrier *b)
{
    if (!b)
        return;
    wr_page_unmap(b->page, b->comm->world);
    if (b->page_fd >= 0)
        close(b->page_fd);
    for (uint32_t k = 0; b->pidfds && k < b->comm->world; k++)
        if (b->pidfds[k] >= 0)
            close(b->pidfds[k]);
    free(b->ranks);
    free(b->pidfds);
    free(b->first);
    free(b);
}

bool wr_barrier_one_host(const struct wr_barrier *b)
{
    return b->hosts <= 1;
}

bool wr_barrier_is_shared(const struct wr_barrier *b)
{
    return b->page != NULL;
}

/* --- failures --- */

/* Says so to the ranks of this host and, by the comm, to all others. */
static int barrier_fails(struct wr_barrier *b, const weir_err *why,
                         weir_err *err)
{
    wr_page_fail(b->page, why);
    wr_comm_give_up(b->comm, why);
    return wr_fail_as(err, b->comm->failure.code, &b->comm->failure);
}

void wr_barrier_give_up(struct wr_barrier *b, const weir_err *why)
{
    uint32_t rank = b->comm->rank;
    weir_err e = *why;

    if (rank) /* as the comm words it */
        wr_fail(&e, why->code, "rank %" PRIu32 " gave up: %s", rank, why->msg);
    if (b->page && !b->comm->failed)
        wr_page_fail(b->page, &e);
    wr_comm_give_up(b->comm, why);
}

/* A rank of this host that has died and has not come to this round. */
static int find_dead(const struct wr_barrier *b, uint64_t round, weir_err *err)
{
    for (uint32_t k = 0; k < b->page_count; k++) {
        struct pollfd p = {.fd = b->pidfds[k], .events = POLLIN};

        if (p.fd < 0 || poll(&p, 1, 0) <= 0)
            continue;
        if (atomic_load(&b->page->slots[k].rounds) < round)
            return wr_fail(err, WEIR_EIO, "rank %" PRIu32 " is gone",
                           b->ranks[k]);
    }
    return 0;
}

static int too_late(const struct wr_barrier *b, uint64_t round, weir_err *err)
{
    uint32_t late = b->ranks[0];

    for (uint32_t k = b->page_count; k-- > 0;)
        if (atomic_load(&b->page->slots[k].rounds) < round)
            late = b->ranks[k];
    return wr_fail(err, WEIR_ETIMEDOUT,
                   "rank %" PRIu32 " did not come within %" PRIu64
                   " ms (barrier)",
                   late, b->comm->timeout_ms);
}

/* What those who wait do now and then. */
static int look_around(struct wr_barrier *b, uint64_t round, uint64_t deadline,
                       weir_err *err)
{
    int r = atomic_load(&b->page->failed);

    if (r < 0)
        return wr_fail(err, r, "%s", b->page->why);
    r = find_dead(b, round, err);
    if (r == 0)
        r = wr_comm_alive(b->comm, err);
    if (r == 0 && wr_clock_ns() >= deadline)
        r = too_late(b, round, err);
    return r;
}

/* --- waiting --- */

static bool has_passed(const atomic_uint *word, unsigned until, bool reach)
{
    unsigned now = atomic_load_explicit(word, memory_order_acquire);

    return reach ? now == until : now != until;
}

/* Until *word reaches `until`, or (`reach` false) is no longer that. */
static int wait_at(struct wr_barrier *b, atomic_uint *word, unsigned until,
                   bool reach)
{
    uint64_t round = atomic_load(&b->page->slots[b->seat].rounds);
    uint64_t begin = wr_clock_ns(), deadline, look = begin + LOOK_NS;
    weir_err e;

    while (!has_passed(word, until, reach)) {
        unsigned now;

        if (b->spin_ns && wr_clock_ns() < begin + b->spin_ns) {
            sched_yield();
            continue;
        }
        now = atomic_load(word);
        if (reach ? now != until : now == until)
            wr_page_wait(word, now, LOOK_NS);
        if (wr_clock_ns() < look && !atomic_load(&b->page->failed))
            continue;
        look = wr_clock_ns() + LOOK_NS;
        deadline = begin + WR_MIN(b->comm->timeout_ms, UINT64_C(1000000000)) *
                               WR_NS_PER_MS;
        /* Somebody may die right after the last one came. */
        if (look_around(b, round, deadline, &e) < 0 &&
            !has_passed(word, until, reach))
            return barrier_fails(b, &e, NULL);
    }
    return 0;
}

/* --- a round --- */

static uint64_t largest_here(const struct wr_barrier *b)
{
    uint64_t most = 0;

    for (uint32_t k = 0; k < b->page_count; k++)
        most = WR_MAX(most, atomic_load_explicit(&b->page->slots[k].value,
                                                 memory_order_relaxed));
    return most;
}

static void end_round(struct wr_barrier *b, unsigned round, uint64_t largest)
{
    struct wr_page *p = b->page;

    atomic_store_explicit(&p->largest, largest, memory_order_relaxed);
    atomic_store_explicit(&p->come, 0, memory_order_relaxed);
    atomic_store_explicit(&p->round, round + 1, memory_order_release);
    if (b->page_count > 1)
        wr_page_wake(&p->round);
}

/* The first rank of a host of several: when all of it have come it asks the
 * other hosts. */
static int lead(struct wr_barrier *b, unsigned round)
{
    uint64_t most;
    weir_err e;
    int r = wait_at(b, &b->page->come, b->page_count, /* reach= */ true);

    if (r < 0)
        return r;
    r = wr_comm_max(b->comm, b->first, largest_here(b), &most, &e);
    if (r < 0)
        return barrier_fails(b, &e, NULL);
    end_round(b, round, most);
    return 0;
}

/* Those who come after a failure would complete a round that others left. */
static int check_page(struct wr_barrier *b)
{
    weir_err e;
    int r = atomic_load(&b->page->failed);

    if (r == 0)
        return 0;
    wr_fail(&e, r, "%s", b->page->why);
    return barrier_fails(b, &e, NULL);
}

static int meet_here(struct wr_barrier *b, uint64_t value)
{
    struct wr_page *p = b->page;
    struct wr_page_slot *mine = &p->slots[b->seat];
    unsigned round = atomic_load(&p->round), come;

    atomic_store_explicit(&mine->value, value, memory_order_relaxed);
    atomic_fetch_add(&mine->rounds, 1);
    come = atomic_fetch_add(&p->come, 1) + 1;
    if (check_page(b) < 0)
        return -1;
    if (b->hosts > 1 && b->seat == 0)
        return lead(b, round);
    if (come == b->page_count) {
        if (b->hosts == 1) {
            end_round(b, round, largest_here(b));
            return 0;
        }
        wr_page_wake(&p->come); /* the first rank */
    }
    return wait_at(b, &p->round, round, /* reach= */ false);
}

int wr_barrier_max(struct wr_barrier *b, uint64_t value, uint64_t *ret_max,
                   weir_err *err)
{
    int r;

    if (!b->page || b->comm->failed)
        return wr_comm_max(b->comm, NULL, value, ret_max, err);
    r = meet_here(b, value);
    if (r < 0)
        return wr_fail_as(err, b->comm->failure.code, &b->comm->failure);
    *ret_max = atomic_load_explicit(&b->page->largest, memory_order_relaxed);
    return 0;
}

/* Each piece goes into the half that the piece before did not: when the root
 * fills it the others have come to the barrier after that one, and so have
 * emptied this half. */
static int share_piece(struct wr_barrier *b, char *buf, size_t len,
                       uint32_t root, weir_err *err)
{
    char *half = wr_page_half(b->page, b->pieces++);
    bool gives = b->comm->rank == root;
    uint64_t unused;
    int r;

    if (gives)
        memcpy(half, buf, len);
    r = wr_barrier_max(b, 0, &unused, err);
    if (r == 0 && !gives)
        memcpy(buf, half, len);
    return r;
}

int wr_barrier_share(struct wr_barrier *b, void *buf, size_t len, uint32_t root,
                     weir_err *err)
{
    int r = 0;

    if (!b->page || b->hosts > 1 || b->comm->failed || root >= b->comm->world)
        return wr_comm_share(b->comm, buf, len, root, err);
    for (size_t at = 0; at < len && r == 0; at += WR_PAGE_HALF)
        r = share_piece(b, (char *)buf + at, WR_MIN(len - at, WR_PAGE_HALF),
                        root, err);
    return r;
}
