/* inspect_made.h - weir inspect --verify of what weir gen made.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_INSPECT_MADE_H
#define WR_CLI_INSPECT_MADE_H

#include "cli/command.h"

/* Compares every byte of the folder with what its description and seed say.
 * False: the folder does not say how it was made, and nothing was done;
 * *ret_exit is set otherwise. */
bool wr_inspect_made(const struct wr_cli *cli, const char *url,
                     unsigned threads, bool json, int *ret_exit);

#endif
