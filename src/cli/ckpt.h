/* ckpt.h - what the actions of weir ckpt share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_CKPT_H
#define WR_CLI_CKPT_H

#include "cli/command.h"
#include "cli/progress.h"
#include "storage/storage.h"
#include "weir/ckpt_manage.h"

/* Where a step is removed from. */
enum { CKPT_TIER_BOTH, CKPT_TIER_FAST, CKPT_TIER_SLOW };

/* The settings of all actions. */
struct ckpt_args {
    /* which */
    uint64_t step;
    bool json;
    const char *store; /* its id */
    /* save */
    const char *from;
    int level; /* enum weir_level */
    /* rm */
    int tier; /* CKPT_TIER_... */
    /* drain */
    bool watch, take_over;
    bool verify;
    /* restore */
    const char *into;
    /* prune */
    uint64_t keep, every, keep_fast, keep_abandoned, after;
    bool spare, dry_run;
    /* bench */
    const char *state;
    uint64_t moments, saves, warmups;
    double interval;
    struct wr_enum_list ways;
    const char *fast_device, *slow_device;
    bool read_back;
    double monitor_hz;
    const char *record;
};

/* The stores that were named. */
const char *wr_ckpt_cli_fast(const struct wr_cli *cli);
const char *wr_ckpt_cli_slow(const struct wr_cli *cli); /* NULL: one tier */

/* Opens them in a role; messages go to the user. Progress, if it is not NULL,
 * is fed by the store and ends with Ctrl-C. */
int wr_ckpt_cli_open(const struct wr_cli *cli, enum weir_ckpt_role role,
                     struct wr_progress *line, weir_ckpt **ret);

/* Says what is odd about the tiers of an open store, if anything: that the slow
 * one was restored from a backup. */
void wr_ckpt_cli_notice(const struct wr_cli *cli, const weir_ckpt *c);

/* As weir_ckpt_config's progress; `line` is a struct wr_progress. Ends with
 * Ctrl-C. */
int wr_ckpt_cli_progress(void *line, uint64_t done, uint64_t total);

/* What was named is a lone file, or a store: runs the one or the other. */
int wr_ckpt_cli_file_or_store(struct wr_cli *cli,
                              int (*file)(struct wr_cli *cli,
                                          struct wr_store *st,
                                          const char *leaf),
                              int (*store)(struct wr_cli *cli));

/* The folder is one of a store's steps, and not a store. */
bool wr_ckpt_cli_is_step(const struct wr_cli *cli);
/* Says that there are none, and where there may be; returns the exit code. */
int wr_ckpt_cli_no_steps(const struct wr_cli *cli);

/* The step that was asked for, WEIR_LATEST when none was. */
uint64_t wr_ckpt_cli_step(const struct wr_cli *cli);

/* Prints why it ended (Ctrl-C: that alone) and returns the exit code. */
int wr_ckpt_cli_failed(const struct wr_cli *cli, int r, const weir_err *err);

/* Starts a progress line that counts bytes. */
void wr_ckpt_cli_line(struct wr_progress *line, const struct wr_cli *cli,
                      const char *label);

/* What follows an action's name: FOLDER [SLOW]; in the second one the first
 * may be a .safetensors file. */
extern const struct wr_operand wr_ckpt_operands_store[];
extern const struct wr_operand wr_ckpt_operands_file[];

#endif
