/* optvalue.h - the text of one option's value into its field.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_OPTVALUE_H
#define WR_CLI_OPTVALUE_H

#include "cli/options.h"

/* Parses the value `text` of `opt` into the struct `args`. The message reads
 * "option --threads: 'x' is not a whole number". */
int wr_option_set_value(const struct wr_option *opt, const char *text,
                        void *args, weir_err *err);

#endif
