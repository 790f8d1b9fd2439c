/* state.h - the inside of the collector, shared by its files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_COLLECT_STATE_H
#define WR_TRACE_COLLECT_STATE_H

#include "base/map.h"
#include "trace/collect/collect.h"
#include "trace/collect/perf.h"
#include "trace/collect/kernel.h"
#include "trace/collect/names.h"
#include "trace/collect/tapped.h"
#include "trace/event.h"

#define WR_COLLECT_BATCH  4096
#define WR_COLLECT_FOLDER "weir-trace-" /* begins the names of folders */
#define WR_COLLECT_PLACES 3

/* --- exact counts of each file in each process (write.c) --- */

/* Counts, and where the last transfers ended (counts.h). */
struct wr_counted_file {
    struct wr_trace_counts counts;
    uint64_t next[2]; /* of the reads, of the writes */
};

/* Zeroed at first. */
struct wr_counted {
    struct wr_counted_file *files; /* owned */
    size_t count, cap;
    struct wr_map numbers; /* of struct wr_map_number: places in `files` */
};

/* The counts of the pair; NULL when memory is short. */
struct wr_counted_file *wr_counted_of(struct wr_counted *c, uint32_t process,
                                      uint32_t file);
void wr_counted_clear(struct wr_counted *c); /* frees it all */

/* Adds one event to its file's counts. */
void wr_counted_add(struct wr_counted_file *f, const struct wr_trace_event *e);

/* --- the collector --- */

/* The control file: mapped, and locked while it is open. */
struct wr_collect_control {
    struct wr_tap_control *control;
    int fd;
};

struct wr_collect {
    char folder[128];
    struct wr_tap_control *control; /* mapped */
    int control_fd;                 /* its lock */
    struct wr_trace_writer *writer; /* owned; NULL: it has failed */
    weir_err failure;               /* why; code 0: it has not */
    struct wr_names *names;         /* owned */
    struct wr_counted counted;
    struct wr_tapped **taps; /* owned; by their numbers - 1, NULL: not (yet) */
    size_t tap_cap, tap_count; /* numbers that were given out */
    size_t oldest;             /* all before it have ended */
    uint32_t processes;        /* of the trace */
    struct wr_faults *faults;  /* owned; NULL: not known */
    struct wr_kernel *kernel;  /* owned; NULL: not asked for */
    bool anonymous, no_arguments;
    bool adopted; /* another one's, which was killed */
    uint64_t pid_space;
    uint64_t start_ns, start_stamp; /* one moment, by two clocks */
    double ns_per_stamp;
    uint64_t next_sample_ns;
    struct wr_trace_event batch[WR_COLLECT_BATCH];
    size_t batch_count;
    struct wr_collect_sum sum;
    char host[256];
};

/* write.c; the first failure is kept, and nothing is written after it. */
void wr_collect_event(struct wr_collect *c, const struct wr_trace_event *e);
void wr_collect_flush(struct wr_collect *c);
bool wr_collect_failed(struct wr_collect *c, int r, const weir_err *err);
void wr_collect_counts(struct wr_collect *c);
/* How much of the data files is in memory now: the next epoch's reads. */
void wr_collect_residency(struct wr_collect *c);
void wr_collect_process(struct wr_collect *c, const struct wr_tapped *t);
/* What a process did itself, as the kernel counted it. */
struct wr_tap_io wr_collect_own_io(const struct wr_tapped *t);
uint64_t wr_collect_since(uint64_t now, uint64_t base);
/* The number of a path, written when it is new. */
uint32_t wr_collect_name(struct wr_collect *c, const char *path);
uint64_t wr_collect_ns(const struct wr_collect *c, uint64_t stamp);
/* Whether what took so many stamps has ended by now. */
bool wr_collect_is_past(const struct wr_collect *c, uint64_t stamp,
                        uint64_t duration);

/* collect.c: the i-th folder that may have a collector's, or NULL. */
const char *wr_collect_place(size_t i);
uint64_t wr_collect_pid_space(void); /* of this process */
/* A collector of what another one, which was killed, left in `folder`. Takes the
 * control file in any case; a folder that cannot be saved, now or by the time of
 * wr_collect_close, stays as it is. */
int wr_collect_adopt(struct wr_collect **ret, const char *folder,
                     struct wr_collect_control *taken,
                     const struct wr_collect_config *cfg, weir_err *err);

/* collect.c: processes that no library tells of. The last one with a pid, or
 * NULL; a new one; its end. */
struct wr_tapped *wr_collect_newest(struct wr_collect *c, pid_t pid);
struct wr_tapped *wr_collect_make(struct wr_collect *c, pid_t pid,
                                  struct wr_tapped *parent, uint64_t start_ns);
void wr_collect_unmake(struct wr_collect *c, struct wr_tapped *t,
                       uint64_t end_ns);

/* drain.c: names, then events of one process, up to the limits. */
void wr_drain_limits(struct wr_tapped *t);
void wr_drain_names(struct wr_collect *c, struct wr_tapped *t);
void wr_drain_events(struct wr_collect *c, struct wr_tapped *t);
/* Counts that the process kept itself, when it has ended. */
void wr_drain_tallies(struct wr_collect *c, struct wr_tapped *t);

/* tapped.c: what /proc tells of a process that runs or has just ended. */
void wr_sample_io(struct wr_tapped *t);
void wr_sample_rings(struct wr_collect *c, struct wr_tapped *t);

#endif
