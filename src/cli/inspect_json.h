/* inspect_json.h - what weir inspect found out, as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_INSPECT_JSON_H
#define WR_CLI_INSPECT_JSON_H

#include "cli/inspect_report.h"

/* Prints one JSON object; WEIR_ENOMEM when memory is short. */
int wr_inspect_print_json(const struct wr_cli *cli,
                          const struct wr_inspect_report *r, weir_err *err);

#endif
