/* scratch.h - a folder of a test that is gone when the test is.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CKPT_SCRATCH_H
#define CKPT_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

/* In memory where that is possible (and `memory`), else below TMPDIR. Must hold
 * "/dev/shm/NAME-XXXXXX". Returns false and says why when it cannot be made. */
bool scratch_make(char *dir, size_t cap, const char *name, bool memory);

/* Removes a tree; none is fine. */
void scratch_remove(const char *dir);

/* Copies a tree of files and folders. */
bool scratch_copy(const char *from, const char *to);

/* Runs `work` in a child process (and a group) of its own; when this process is
 * told to end meanwhile (a test that takes too long), the whole group is killed
 * and -1 returned. Else what `work` returned. Ends the child's children with
 * it. */
int scratch_guard(int (*work)(void *arg), void *arg);

#endif
