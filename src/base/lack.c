/* lack.c - errors that say what this process is short of, not what data is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/lack.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"

/* What others of this process hold for a moment comes back within
 * milliseconds; what another process took may take a while. */
#define FIRST_NS  (WR_NS_PER_MS)
#define MOST_NS   (100 * WR_NS_PER_MS)
#define GIVEUP_NS (3 * WR_NS_PER_SEC)

bool wr_err_is_lack(int code)
{
    return code == WEIR_ENOMEM || code == WEIR_EMFILE;
}

static void memory_limit(char *buf, size_t cap)
{
    static const struct {
        int resource;
        const char *name, *option;
    } limits[] = {{RLIMIT_AS, "RLIMIT_AS", "-v"},
                  {RLIMIT_DATA, "RLIMIT_DATA", "-d"}};
    struct rlimit rl;
    char size[32];

    buf[0] = '\0';
    for (unsigned i = 0; i < 2; i++) {
        if (getrlimit(limits[i].resource, &rl) < 0 ||
            rl.rlim_cur == RLIM_INFINITY)
            continue;
        wr_format_bytes(size, sizeof(size), (double)rl.rlim_cur);
        snprintf(buf, cap, " (%s is %s; raise it with ulimit %s)",
                 limits[i].name, size, limits[i].option);
        return;
    }
}

char *wr_lack_limit(int code, int os_errno, char *buf, size_t cap)
{
    struct rlimit rl;

    buf[0] = '\0';
    if (code == WEIR_ENOMEM)
        memory_limit(buf, cap);
    else if (os_errno == ENFILE)
        snprintf(buf, cap, " (fs.file-max, the limit of the whole machine)");
    else if (code == WEIR_EMFILE && getrlimit(RLIMIT_NOFILE, &rl) == 0)
        snprintf(buf, cap, " (RLIMIT_NOFILE is %llu; raise it with ulimit -n)",
                 (unsigned long long)rl.rlim_cur);
    return buf;
}

uint64_t wr_lack_backoff(uint64_t since_ns, uint64_t now_ns)
{
    uint64_t waited = now_ns - since_ns;

    if (waited >= GIVEUP_NS)
        return 0;
    return WR_MAX(FIRST_NS, WR_MIN(waited, MOST_NS));
}

bool wr_lack_pause(uint64_t *since_ns)
{
    uint64_t now = wr_clock_ns(), pause;

    if (!*since_ns)
        *since_ns = now;
    pause = wr_lack_backoff(*since_ns, now);
    if (pause)
        wr_clock_sleep_until(now + pause);
    return pause;
}
