/* facts.h - what a trace says of the machine that it was made on.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_FACTS_H
#define WR_TRACE_FACTS_H

#include "monitor/host.h"
#include "trace/file.h"

struct wr_trace_facts {
    struct wr_host host;
    char *command, *mounts, *watched; /* owned */
    struct wr_trace_info info;        /* points into the above */
};

/* Of a command that is about to run; `words` of it are kept. */
void wr_trace_facts_begin(struct wr_trace_facts *f, char *const *words,
                          size_t count, bool anonymous);
/* Adds what is known when it has ended, `ns` later; `watched`, the record of a
 * monitor, is taken over, and NULL if there was none. */
void wr_trace_facts_end(struct wr_trace_facts *f, char *watched, uint64_t ns);
void wr_trace_facts_free(struct wr_trace_facts *f);

#endif
