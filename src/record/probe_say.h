/* probe_say.h - what a probe means for training, in sentences.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_PROBE_SAY_H
#define WR_RECORD_PROBE_SAY_H

#include "record/view.h"

/* Best read and write, what small files give, whether depth pays: at most
 * `room` sentences on top of the page, of the tests of all records. */
void wr_probe_say(struct wr_doc *d, const struct wr_cases *c, size_t room);

/* All there is to say, as notes, of each record. */
void wr_probe_words(struct wr_scope *v);

#endif
