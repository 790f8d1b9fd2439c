/* lack.h - errors that say what this process is short of, not what data is.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Without a descriptor or memory nothing was learned about a file: it is not
 * damaged, not missing, and its sample is not bad. Such an error is waited out
 * or ends what was asked for; it never picks another copy, skips a sample or
 * marks an index. */
#ifndef WR_BASE_LACK_H
#define WR_BASE_LACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a WEIR_E... code is a lack of resources: WEIR_ENOMEM (ENOMEM,
 * ENOBUFS, no thread to be had) or WEIR_EMFILE (EMFILE, ENFILE). Lack of
 * permission (WEIR_EACCES) and failed I/O (WEIR_EIO) are not. */
bool wr_err_is_lack(int code);

/* The limit behind such a code as text to append, " (RLIMIT_NOFILE is 16; raise
 * it with ulimit -n)", or "" when no limit of this process is known. `os_errno`
 * tells EMFILE from ENFILE; 0 means the process's own limit. Returns buf. */
char *wr_lack_limit(int code, int os_errno, char *buf, size_t cap);

/* How long to wait before the next try when the first one failed for a lack at
 * `since_ns` (as wr_clock_ns tells it): longer from try to try. 0: it was
 * waited for long enough. */
uint64_t wr_lack_backoff(uint64_t since_ns, uint64_t now_ns);

/* Waits that long; false: it was waited for long enough. *since_ns is 0 before
 * the first try, and set here. */
bool wr_lack_pause(uint64_t *since_ns);

#endif
