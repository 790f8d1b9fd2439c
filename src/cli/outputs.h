/* outputs.h - files that a command writes at its end, looked at before it runs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_OUTPUTS_H
#define WR_CLI_OUTPUTS_H

#include "cli/command.h"

/* Whether the files of all options with WR_OPTION_OUTPUT that were given can be
 * written, so that nothing is measured in vain. WEIR_EINVAL when two of them
 * are one file, or one is a file that is read. Leaves nothing behind. */
int wr_outputs_check(const struct wr_cli *cli, weir_err *err);

#endif
