/* chunk.c - the process's file, and chunks of it for threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/tap.h"

#include <errno.h>
#include <linux/mman.h>
#include <sys/mman.h>

#define WR_POPULATE_WRITE 23 /* MADV_POPULATE_WRITE, Linux 5.14 */

static long raw_mmap(void *at, size_t len, int flags, int fd)
{
    return wr_raw(SYS_mmap, (long)at, (long)len, PROT_READ | PROT_WRITE, flags,
                  fd, 0);
}

/* FOLDER/pNUMBER */
static void file_name(uint32_t number, char *buf, size_t cap)
{
    char digits[10];
    size_t n = 0, at = 0;

    while (wr_tap.folder[at] && at < cap - 14) {
        buf[at] = wr_tap.folder[at];
        at++;
    }
    buf[at++] = '/';
    buf[at++] = 'p';
    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (n)
        buf[at++] = digits[--n];
    buf[at] = '\0';
}

/* On kernels without MADV_POPULATE_WRITE. The descriptor is not kept: programs
 * close all they find and use its number for files of theirs. */
static bool allocate(size_t from, size_t len)
{
    char path[288];
    long fd, r;

    file_name(wr_tap.alive->process, path, sizeof(path));
    fd = WR_RAW4(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    r = WR_RAW4(SYS_fallocate, fd, 1, from, len); /* keep the size */
    WR_RAW1(SYS_close, fd);
    return r == 0;
}

/* Memory of the file that can be written without a signal: where the folder has
 * no room left this fails, and a touched page would be SIGBUS. */
bool wr_tap_populate(void *at, size_t len)
{
    long r = WR_RAW3(SYS_madvise, at, len, WR_POPULATE_WRITE);

    if (r == -EINVAL && wr_tap.alive && wr_tap.alive->process)
        return allocate((size_t)((char *)at - (char *)wr_tap.head), len);
    return r == 0;
}

/* At the place of the parent's, which the child does not have: what a handler
 * interrupted there goes on safely. */
static void *map_file(int fd, void *near)
{
    long r = -1;

    if (near)
        r = raw_mmap(near, WR_TAP_SIZE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd);
    if (near && r > 0 && (void *)r != near) { /* an old kernel: a hint */
        WR_RAW2(SYS_munmap, r, WR_TAP_SIZE);
        r = -1;
    }
    if (r < 0 && r > -4096)
        r = raw_mmap(NULL, WR_TAP_SIZE, MAP_SHARED, fd);
    return r < 0 && r > -4096 ? NULL : (void *)r;
}

struct wr_tap_process *wr_tap_file_make(uint32_t number, void *near)
{
    char path[288];
    void *base = NULL;
    long fd, r;

    file_name(number, path, sizeof(path));
    fd = WR_RAW4(SYS_openat, AT_FDCWD, path,
                 O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL;
    r = WR_RAW2(SYS_ftruncate, fd, WR_TAP_SIZE);
    if (r == 0)
        r = WR_RAW4(SYS_fallocate, fd, 1, 0, WR_TAP_HEAD + WR_TAP_CHUNK);
    if (r == 0)
        base = map_file((int)fd, near);
    WR_RAW1(SYS_close, fd);
    if (!base)
        return NULL;
    WR_RAW3(SYS_madvise, base, WR_TAP_SIZE, MADV_DONTFORK);
    return base;
}

/* The lowest free slot: its memory is the warmest. */
static int claim_slot(struct wr_tap_process *head)
{
    for (unsigned k = 0; k < WR_TAP_CHUNKS; k++) {
        uint8_t is_free = WR_TAP_FREE;

        if (__atomic_load_n(&head->state[k], __ATOMIC_RELAXED) == WR_TAP_FREE &&
            __atomic_compare_exchange_n(&head->state[k], &is_free,
                                        WR_TAP_CLAIMED, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return (int)k;
    }
    return -1;
}

static void raise_to(uint32_t *high, uint32_t value)
{
    uint32_t seen = __atomic_load_n(high, __ATOMIC_RELAXED);

    while (seen < value &&
           !__atomic_compare_exchange_n(high, &seen, value, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

static void give_back(struct wr_tap_thread *t)
{
    if (t->process && t->process == wr_tap.alive->process)
        __atomic_store_n(&wr_tap.head->state[t->slot], WR_TAP_FULL,
                         __ATOMIC_RELEASE);
    t->process = 0;
    t->at = t->end = NULL;
}

bool wr_tap_chunk_take(struct wr_tap_thread *t)
{
    struct wr_tap_process *head = wr_tap.head;
    struct wr_tap_chunk *c;
    bool is_new = t->process != wr_tap.alive->process;
    int slot;

    give_back(t);
    if (__atomic_load_n(&wr_tap.control->closed, __ATOMIC_RELAXED)) {
        wr_tap.on = 0; /* nobody reads any more */
        return false;
    }
    slot = claim_slot(head);
    if (slot < 0)
        return false;
    c = wr_tap_chunk_at(head, (unsigned)slot);
    if (!wr_tap_populate(c, WR_TAP_CHUNK)) {
        __atomic_store_n(&head->state[slot], WR_TAP_FREE, __ATOMIC_RELEASE);
        return false;
    }
    c->tid = (uint32_t)WR_RAW1(SYS_gettid, 0);
    raise_to(&head->chunks, (uint32_t)slot + 1);
    __atomic_store_n(&head->state[slot], WR_TAP_ACTIVE, __ATOMIC_RELEASE);
    t->counting = WR_TAP_ADD(head->bytes, WR_TAP_CHUNK) >=
                  wr_tap.control->budget_bytes;
    t->chunk = c;
    t->at = (unsigned char *)(c + 1);
    t->end = (unsigned char *)c + WR_TAP_CHUNK;
    t->slot = (uint32_t)slot;
    t->process = wr_tap.alive->process;
    if (is_new)
        WR_TAP_ADD(head->threads, 1);
    return true;
}

void wr_tap_thread_done(void)
{
    struct wr_tap_thread *t = &wr_tap_self;

    if (wr_tap.alive && !t->busy)
        give_back(t);
}
