/* jail.h - a process that can compute, talk to one socket, and end.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_HDF5_JAIL_H
#define WR_HDF5_JAIL_H

#include <stdbool.h>

/* The process ends when the thread that started it does. False: that has ended
 * already. */
bool h5_end_with_weir(void);

/* From here on no file can be opened, nothing be sent elsewhere, no process be
 * started, no memory be made code: such calls fail with EPERM. After `seconds`
 * of CPU time the process is ended. False: the kernel cannot do that. */
bool h5_jail(unsigned seconds);

#endif
