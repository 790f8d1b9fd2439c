/* lack.c - errors that say what this process is short of, not what data is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/lack.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/units.h"

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
