/* comm.c - the registry of comm backends, and what is made of their calls.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/comm.h"
