/* probe_say.h - what a probe comes to, in sentences.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_PROBE_SAY_H
#define WR_RECORD_PROBE_SAY_H

#include "record/view.h"

/* Best read and write, the depth that is needed, what small files cost: at
 * most `room` sentences, of the tests of all records. */
void wr_probe_say(struct wr_doc *d, const struct wr_cases *c, size_t room);

#endif
