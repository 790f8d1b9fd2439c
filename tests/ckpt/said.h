/* said.h - what the children of a test say on their standard error.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A child that is killed has no exit code that tells of a sanitizer's report,
 * but the report is there: who says anything has failed. */
#ifndef CKPT_SAID_H
#define CKPT_SAID_H

#include <stdbool.h>
#include <stddef.h>

/* A place for it, to be made before the children are; ends the process when
 * there is none. */
int said_new(void);

/* In a child: from here on its standard error goes there. */
void said_by_me(int said);

/* Prints all that was said and forgets it; false: nothing was. The children are
 * gone. */
bool said_print(int said);

/* How a process ended, in words: "was killed by signal 11 (...)". `status` is
 * waitpid's. */
void said_end(int status, char *buf, size_t cap);

#endif
