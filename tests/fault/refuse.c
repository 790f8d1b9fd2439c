/* refuse.c - runs a program in which system calls are refused.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: refuse CALL=ERRNO... PROGRAM [ARGUMENT...]
 *
 * CALL and ERRNO are names of the tables below. Exit code 77: no filter can be
 * set here. */
#include "refuse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct name {
    const char *text;
    long value;
};

static const struct name calls[] = {
    {"io_uring_setup", SYS_io_uring_setup},
    {"io_uring_enter", SYS_io_uring_enter},
    {"io_uring_register", SYS_io_uring_register},
    {NULL, 0},
};

static const struct name errnos[] = {
    {"EPERM", EPERM},
    {"ENOSYS", ENOSYS},
    {"ENOMEM", ENOMEM},
    {NULL, 0},
};

/* -1: no such name. */
static long value_of(const struct name *table, const char *text, size_t len)
{
    for (; table->text; table++)
        if (strlen(table->text) == len && !memcmp(table->text, text, len))
            return table->value;
    return -1;
}

int main(int argc, char **argv)
{
    int at = 1;

    for (; at < argc; at++) {
        const char *eq = strchr(argv[at], '=');
        long call = -1, e = -1;

        if (!eq)
            break;
        call = value_of(calls, argv[at], (size_t)(eq - argv[at]));
        e = value_of(errnos, eq + 1, strlen(eq + 1));
        if (call < 0 || e < 0) {
            fprintf(stderr, "refuse: '%s' is not known\n", argv[at]);
            return 99;
        }
        if (!refuse_call(call, (unsigned)e)) {
            fprintf(stderr, "refuse: no filter of system calls here\n");
            return 77;
        }
    }
    if (at < argc)
        execvp(argv[at], argv + at);
    fprintf(stderr, "refuse: no program to run\n");
    return 99;
}
