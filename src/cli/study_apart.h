/* study_apart.h - measuring a study in a process that can be ended at once.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_STUDY_APART_H
#define WR_CLI_STUDY_APART_H

#include "cli/command.h"
#include "study/study.h"

/* Measures what `st` lacks in a process of its own, shows in a line how far it is,
 * and has `st` know the results. Ctrl-C ends it in the middle of anything: what
 * was measured is kept in files, what was half done is removed, and how to go on
 * is said. Returns enum wr_exit. */
int wr_study_apart(struct wr_cli *cli, struct wr_study *st);

#endif
