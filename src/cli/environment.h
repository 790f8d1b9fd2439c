/* environment.h - the environment variables that weir reads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_ENVIRONMENT_H
#define WR_CLI_ENVIRONMENT_H

#include <stdbool.h>

/* One entry of the man page's ENVIRONMENT. */
struct wr_variable {
    const char *name; /* NULL ends the table */
    const char *help;
    bool indirect; /* read by the C library on weir's behalf, not by getenv */
};

/* Every variable; a lint compares it with the calls of getenv in src/. */
extern const struct wr_variable wr_environment[];

#endif
