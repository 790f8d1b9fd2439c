/* probe.h - what a path can do: one storage test after the other.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A plan is a list of tests. Every test is run in passes (all tests once, then
 * again), so that a machine that changes its mind does so for all of them
 * alike; results are medians over the passes, and all passes are kept: a first
 * one that is slower than the others tells of a cache below the kernel.
 *
 * All files lie in one folder that is made below the path and is gone at the
 * end, however it ends. Nothing else is written. */
#ifndef WR_MEASURE_PROBE_H
#define WR_MEASURE_PROBE_H

#include "base/hist.h"
#include "format/format.h"
#include "result/probe.h"
#include "storage/storage.h"

#define WR_PROBE_MIX_MAX 64

/* Sizes of requests and their shares; the shares add up to 1. */
struct wr_probe_mix {
    char name[128]; /* "imagenet", or the data set it was taken from */
    size_t count;
    struct {
        uint64_t bytes;
        double share;
    } part[WR_PROBE_MIX_MAX];
};

/* ImageNet's files as a storage engineer's study counted them: from 2 KiB 1,
 * from 4 KiB 2, 8 4, 16 8, 32 13, 64 38, 128 33, 256 1 (of 100), each bin at its
 * middle. Mean 115 KB, as the data set has. */
void wr_probe_mix_imagenet(struct wr_probe_mix *ret);

/* The sizes of a data set's samples, by powers of two (their mean size each,
 * rounded up to 512 bytes). */
int wr_probe_mix_of(const weir_dataset *ds, struct wr_probe_mix *ret,
                    weir_err *err);

/* Every test ends after plan.seconds; buffered ones also when each place of the
 * file, and FILES and CREATE when each file, was met once: to meet it again
 * would be to meet the page cache. Direct ones begin again, and the first tenth
 * of a direct read (0.25 s at most) is not counted.
 *
 * WRITE overwrites blocks that exist; the sync at its end is part of its time.
 * FILES reads from closed files whose pages are dropped; the kernel still
 * knows their names and inodes, which only root can make it forget. CREATE
 * syncs nothing, as mdtest; it knows no depth and is never direct. So is SYNC,
 * whose block is always 4 KiB. */
enum wr_probe_op {
    WR_PROBE_READ,   /* of the big file */
    WR_PROBE_WRITE,  /* of a big file */
    WR_PROBE_FILES,  /* open, read all, close: small files of the mix's sizes */
    WR_PROBE_CREATE, /* create, write, close: the same */
    WR_PROBE_SYNC,   /* write 4 KiB, then sync; the latency is the sync's */
};

enum wr_probe_pattern { WR_PROBE_SEQUENTIAL, WR_PROBE_RANDOM };

struct wr_probe_test {
    enum wr_probe_op op;
    enum wr_probe_pattern pattern;
    uint64_t block; /* bytes of a request; 0: by the mix */
    unsigned depth; /* requests in flight of each worker */
    unsigned workers;
    bool direct;
};

#define WR_PROBE_NAME 80
/* "random read 4 KiB, depth 32, direct"; returns buf. */
char *wr_probe_test_name(const struct wr_probe_test *t, char *buf, size_t cap);

struct wr_probe_plan {
    const char *url;      /* the folder: a path, or emu:hdd:/data */
    const char *file;     /* an existing file to be read instead of a fresh
                              one; NULL: none. Tests that write still do */
    uint64_t file_bytes;  /* of the big file */
    unsigned small_files; /* how many of them */
    struct wr_probe_mix mix;
    const struct wr_probe_test *tests; /* borrowed */
    size_t test_count;
    unsigned passes; /* >= 1 */
    double seconds;  /* of each test of each pass */
    enum weir_io io;
    uint64_t seed;

    /* What is going on ("lay out", a test's name) and how far it is, 0..1. */
    void (*progress)(void *arg, const char *what, double part);
    void *progress_arg;
    bool (*stopped)(void); /* polled, by other threads too; may be NULL:
                              WEIR_ECANCELED */
};

/* One pass of one test. */
struct wr_probe_run {
    struct wr_probe_run_values v; /* latencies are those below, for a record */
    uint64_t start_ns;            /* wr_clock_ns at the first request */
    struct wr_hist *latency; /* owned: nanoseconds of each request (FILES and
                                CREATE: of each file) */
    struct wr_hist *open, *transfer, *close; /* owned; FILES and CREATE;
                                    empty for FILES in a queue (depth > 1 or
                                    direct), where the steps are one */
};

struct wr_probe_result {
    struct wr_probe_run *runs; /* owned: one a pass */
    unsigned run_count;
    unsigned median;                 /* the run whose ops/s is the median */
    struct wr_probe_result_values v; /* latencies are made for a record */
    double ops_spread; /* the passes' distances from ops_per_s, their median:
                          one pass that is far off does not move it */
    bool skipped;
    char reason[200]; /* why it was skipped: no O_DIRECT here */
};

/* How the cache was kept out, and whether that held. */
struct wr_probe_cache {
    bool direct_works;
    bool dropped;    /* pages dropped file by file before buffered reads */
    double resident; /* at most so much was resident before any cold read;
                           -1: the kernel does not tell */
    bool below;      /* signs of a cache below the kernel */
    char signs[300]; /* which ones */
};

struct wr_probe_report {
    struct wr_probe_result *results; /* owned: one a test */
    size_t count;
    struct wr_probe_cache cache;
    uint64_t file_bytes; /* as used */
    uint64_t free_bytes; /* before */
    unsigned small_files;
    char engine[16]; /* "io_uring", "blocking" */
};

/* Bytes that the plan needs on the path. */
uint64_t wr_probe_space(const struct wr_probe_plan *plan);

/* Runs it. WEIR_ENOSPC before anything is written when space is short. The
 * report is to be freed with wr_probe_report_done. */
int wr_probe(const struct wr_probe_plan *plan, struct wr_probe_report *ret,
             weir_err *err);
void wr_probe_report_done(struct wr_probe_report *r);

/* Latencies of all passes together, for a tail wants many values: of each
 * request, or of a step of FILES and CREATE. */
enum wr_probe_step {
    WR_PROBE_ALL_STEPS,
    WR_PROBE_OPEN,
    WR_PROBE_TRANSFER,
    WR_PROBE_CLOSE
};
void wr_probe_latency(const struct wr_probe_result *r, enum wr_probe_step step,
                      struct wr_hist *ret);

/* The depth beyond which nothing is gained (less than 5 % per doubling), among
 * the tests that differ from `like` in depth alone; 0 when there are fewer
 * than two. *ret_reached: there was a deeper one, which gained nothing. */
unsigned wr_probe_saturation(const struct wr_probe_plan *plan,
                             const struct wr_probe_report *r,
                             const struct wr_probe_test *like,
                             bool *ret_reached);

#endif
