/* descriptors.c - the file descriptors of this process, shared by all of weir.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/descriptors.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/shares.h"
#include "base/thread.h"

#define FREE_READS 4u                  /* held without asking for the limit */
#define OTHERS     6u                  /* terminal, folders, a ring */
#define LOOK_NS    (20 * WR_NS_PER_MS) /* the program closes files, too */
#define GIVEUP_NS  (WR_NS_PER_SEC)
#define MOST_NS    (30 * WR_NS_PER_SEC) /* others may be faster each time */

static bool may_enter(unsigned reads)
{
    struct rlimit rl;

    return reads < FREE_READS || getrlimit(RLIMIT_NOFILE, &rl) < 0 ||
           rl.rlim_cur == RLIM_INFINITY || reads < rl.rlim_cur / 2;
}

void wr_fd_enter(void)
{
    struct wr_files *files = &wr_shares_get()->files;

    pthread_mutex_lock(&files->lock);
    while (!may_enter(files->reads))
        pthread_cond_wait(&files->turn, &files->lock);
    files->reads++;
    pthread_mutex_unlock(&files->lock);
}

void wr_fd_leave(void)
{
    struct wr_files *files = &wr_shares_get()->files;

    pthread_mutex_lock(&files->lock);
    files->reads--;
    files->closed++;
    pthread_cond_signal(&files->turn);
    pthread_cond_broadcast(&files->back);
    pthread_mutex_unlock(&files->lock);
}

unsigned wr_fd_share(void)
{
    struct rlimit rl;

    if (getrlimit(RLIMIT_NOFILE, &rl) < 0 || rl.rlim_cur / 2 > UINT_MAX)
        return UINT_MAX;
    return rl.rlim_cur / 2 > OTHERS ? (unsigned)(rl.rlim_cur / 2) - OTHERS : 1;
}

/* With the lock held. */
static void wait_back(struct wr_files *files, uint64_t limit_ns)
{
    wr_cond_wait_until(&files->back, &files->lock, wr_clock_ns() + limit_ns);
}

bool wr_fd_retry(struct wr_fd_wait *w, int os_errno)
{
    struct wr_files *files = &wr_shares_get()->files;
    uint64_t now_ns = wr_clock_ns();
    int e = errno;
    bool hope, again;

    if (!wr_err_is_lack(wr_error_from_errno(os_errno)))
        return false;
    pthread_mutex_lock(&files->lock);
    /* One that came back is what EMFILE waits for. It tells nothing of memory,
     * or of the files of the whole machine. */
    hope = os_errno == EMFILE && files->closed != w->closed;
    if (!w->begun_ns)
        w->begun_ns = now_ns;
    if (!w->since_ns || hope)
        w->since_ns = now_ns;
    w->closed = files->closed;
    again = now_ns - w->since_ns < GIVEUP_NS && now_ns - w->begun_ns < MOST_NS;
    if (again)
        wait_back(files, LOOK_NS);
    pthread_mutex_unlock(&files->lock);
    errno = e;
    return again;
}

void wr_fd_closed(void)
{
    struct wr_files *files = &wr_shares_get()->files;

    pthread_mutex_lock(&files->lock);
    files->closed++;
    pthread_cond_broadcast(&files->back);
    pthread_mutex_unlock(&files->lock);
}

int wr_fd_close(int fd)
{
    int r = close(fd);

    /* It is closed all the same; whoever wants it on the medium syncs first. */
    if (r < 0 && errno == EINTR)
        r = 0;
    wr_fd_closed();
    return r;
}
