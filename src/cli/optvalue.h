/* optvalue.h - the text of one option's value into its field.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_OPTVALUE_H
#define WR_CLI_OPTVALUE_H

#include "cli/options.h"

/* Parses the value `text` of `opt` into the struct `args`. The message reads
 * "option --threads: 'x' is not a whole number". */
int wr_option_set_value(const struct wr_option *opt, const char *text,
                        void *args, weir_err *err);

/* The value of the choice called `text`, or a failure naming all of them. */
int wr_choice_find(const struct wr_choice *choices, const char *text,
                   int *ret_value, weir_err *err);

/* The name of a choice's value; "?" when there is none. */
const char *wr_choice_name(const struct wr_choice *choices, int value);

/* "a, b or c" into buf, which is returned. */
char *wr_choice_join(const struct wr_choice *choices, char *buf, size_t cap);

#endif
