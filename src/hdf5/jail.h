/* jail.h - a process that can compute, talk to one socket, and end.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_HDF5_JAIL_H
#define WR_HDF5_JAIL_H

#include <stdbool.h>

/* From here on no file can be opened, nothing be sent elsewhere, no process be
 * started: such calls fail with EPERM. False: the kernel cannot do that. */
bool h5_jail(void);

#endif
