/* interrupt.h - Ctrl-C as a flag that long commands poll.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_INTERRUPT_H
#define WR_CLI_INTERRUPT_H

#include <stdbool.h>

/* From here on the first SIGINT, SIGTERM or SIGHUP only sets the flag and a
 * second one ends the process at once; writing into a closed pipe is an error of
 * the write, not the end of the process. Programs that are started get the usual
 * handling back. */
void wr_interrupt_install(void);

/* Whoever started this process asked for that, as nohup does for SIGHUP. */
bool wr_signal_is_ignored(int number);

/* The same without a signal: the work is of no use any more. The exit code stays
 * the command's. From any thread. */
void wr_interrupt_stop(void);

/* True after a signal: stop, clean up, return. Safe from any thread. */
bool wr_interrupted(void);

/* 130 after SIGINT, 143 after SIGTERM, 129 after SIGHUP, 0 when there was no signal. */
int wr_interrupt_exit_code(void);

#endif
