/* trace_facts.h - what a trace says of the machine that it was made on.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_TRACE_FACTS_H
#define WR_CLI_TRACE_FACTS_H

#include "cli/command.h"
#include "measure/monitor.h"
#include "monitor/host.h"
#include "trace/file.h"

struct wr_trace_facts {
    struct wr_host host;
    struct wr_monitor monitor;
    char *command, *mounts, *watched; /* owned */
    struct wr_trace_info info;        /* points into the above */
};

/* Of a command that is about to run. */
void wr_trace_facts_begin(struct wr_trace_facts *f, const struct wr_cli *cli,
                          bool anonymous, bool no_arguments);
/* Adds what is known when it has ended, `ns` later. */
void wr_trace_facts_end(struct wr_trace_facts *f, uint64_t ns);
void wr_trace_facts_free(struct wr_trace_facts *f);

#endif
