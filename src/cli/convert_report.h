/* convert_report.h - what weir convert has done, as text and as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_CONVERT_REPORT_H
#define WR_CLI_CONVERT_REPORT_H

#include "cli/command.h"
#include "convert/convert.h"

/* Names the bad samples on stderr, at most 20 of them. */
void wr_convert_note_bad(const struct wr_cli *cli,
                         const struct wr_convert_result *res);

void wr_convert_print_text(const struct wr_cli *cli,
                           const struct wr_convert_config *cfg,
                           const struct wr_convert_result *res);

/* Returns enum wr_exit. */
int wr_convert_print_json(const struct wr_cli *cli,
                          const struct wr_convert_config *cfg,
                          const struct wr_convert_result *res);

#endif
