/* check.h - what values of a description must be to each other.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_WORKLOAD_CHECK_H
#define WR_WORKLOAD_CHECK_H

#include "workload/workload.h"

/* Each value alone is right already. The message does not say where: *ret_path
 * is the key that it is about. */
int wr_workload_check(const struct wr_workload *w, const char **ret_path,
                      weir_err *err);

#endif
