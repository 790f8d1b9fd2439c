/* trace_program.h - runs the program that is traced, as a shell would.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_TRACE_PROGRAM_H
#define WR_CLI_TRACE_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <signal.h>
#include <stddef.h>

#include "base/child.h"

struct wr_program {
    struct wr_child child; /* `out` closed: it may begin; `in` says errno if it
                              could not be executed */
    int signal_fd;
    sigset_t before; /* the mask that it gets back */
};

/* The library that is preloaded: beside weir, or where it was installed. */
int wr_program_library(char buf[PATH_MAX], weir_err *err);

/* Starts a process that waits; the environment gets WEIR_TRACE=folder and
 * LD_PRELOAD. From here on signals are read from signal_fd. */
int wr_program_start(struct wr_program *p, char *const *argv,
                     const char *folder, const char *library, weir_err *err);
/* Ends it before it has begun. */
void wr_program_cancel(struct wr_program *p);
/* Lets it begin; 0, or the errno with which it could not be executed. */
int wr_program_go(struct wr_program *p);
/* Waits so long, or until something happens: signals that were meant for the
 * program are passed on. True: it has ended, and is not reaped yet. */
bool wr_program_wait(struct wr_program *p, int timeout_ms);
/* Reaps it; the status of waitpid. */
int wr_program_reap(struct wr_program *p);

/* Runs it in place of this process; returns only on failure: errno. */
int wr_program_become(char *const *argv);
/* As a shell has it: 128 + signal; 126 and 127 if it was not executed. */
int wr_program_code(int status);
int wr_program_exec_code(int os_errno);

#endif
