/* said.c - what the children of a test say on their standard error.
 * SPDX-License-Identifier: Apache-2.0 */
#include "said.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int said_new(void)
{
    int said = memfd_create("said", MFD_CLOEXEC);

    /* Appending: it is emptied while others have it open. */
    if (said < 0 || fcntl(said, F_SETFL, O_APPEND) < 0) {
        perror("memfd_create");
        exit(1);
    }
    return said;
}

void said_by_me(int said)
{
    if (dup2(said, STDERR_FILENO) < 0)
        abort();
}

bool said_print(int said)
{
    char buf[4096];
    off_t at = 0;
    ssize_t n;

    while ((n = pread(said, buf, sizeof(buf), at)) > 0) {
        fwrite(buf, 1, (size_t)n, stdout);
        at += n;
    }
    if (n < 0 || ftruncate(said, 0) < 0)
        printf("what was said on stderr cannot be read\n");
    fflush(stdout);
    return at > 0 || n < 0;
}

void said_end(int status, char *buf, size_t cap)
{
    if (WIFSIGNALED(status))
        snprintf(buf, cap, "was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(buf, cap, "ended with exit code %d", WEXITSTATUS(status));
}
