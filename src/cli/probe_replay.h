/* probe_replay.h - weir probe --replay: a trace's requests, issued elsewhere.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_PROBE_REPLAY_H
#define WR_CLI_PROBE_REPLAY_H

#include "cli/command.h"

enum wr_replay_speed { WR_REPLAY_TRACED, WR_REPLAY_ASAP };

struct wr_replay_args {
    const char *trace;  /* NULL: no replay */
    const char *from;   /* the traced data folder; NULL: find it */
    const char *record; /* where its record goes; NULL: nowhere */
    int speed;          /* enum wr_replay_speed */
    bool writes;
};

/* `url` is where the files lie now; NULL: where they were. Returns enum
 * wr_exit. */
int wr_probe_replay(struct wr_cli *cli, const struct wr_replay_args *a,
                    const char *url, bool json);

#endif
