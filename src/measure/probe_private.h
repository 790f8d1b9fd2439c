/* probe_private.h - what the parts of the probe share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MEASURE_PROBE_PRIVATE_H
#define WR_MEASURE_PROBE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/perm.h"
#include "measure/probe.h"
#include "storage/beside.h"

#define WR_PROBE_FILL_BLOCK ((size_t)1 << 20)
#define WR_PROBE_FILL_DEPTH 8u
#define WR_PROBE_PER_FOLDER 1000u /* small files */
#define WR_PROBE_PATH       64    /* of anything in our folder */

/* --- probe_worker.c: sizes that are mixed --- */

/* Sizes of `count` things in the mix's shares, the largest remainders rounded
 * up; shuffled. NULL when memory is short; free(). */
uint64_t *wr_probe_mix_sizes(const struct wr_probe_mix *mix, unsigned count,
                             uint64_t seed);
/* The size that falls to the random number `dice`. */
uint64_t wr_probe_mix_pick(const struct wr_probe_mix *mix, uint64_t dice);
uint64_t wr_probe_mix_max(const struct wr_probe_mix *mix);

/* --- probe_layout.c: the folder and what lies in it --- */

/* A probe that is killed while it cleans up must leave its lock, by which the
 * next one knows the rest. Deeper folders are someone else's. */
#define WR_PROBE_LOCK "lock"
#define WR_PROBE_TREE (&(const struct wr_tree_rule){WR_PROBE_LOCK, 4})

struct wr_probe_place {
    const struct wr_probe_plan *plan; /* borrowed */
    struct wr_store *store;           /* owned: where the folder is */
    struct wr_store *file_store;      /* owned: where plan->file is, or NULL */
    char folder[24];                  /* "" while there is none */
    int lock_fd;                      /* owned; held as long as we live */
    struct wr_store *read_store;      /* borrowed: one of the two */
    char *read_path;                  /* owned: the file to be read */
    uint64_t read_bytes;
    char write_path[WR_PROBE_PATH]; /* the file to be written */
    uint64_t *small_bytes;          /* owned: plan->small_files sizes */
};

/* What a plan is going to need. */
struct wr_probe_needs {
    bool reads, writes, files, creates;
};
struct wr_probe_needs wr_probe_needs_of(const struct wr_probe_plan *plan);

/* Path of small file k of a kind: 's' to be read, 'c' created by a test. */
void wr_probe_small_path(const struct wr_probe_place *p, char kind, unsigned k,
                         char *buf);
/* Makes or removes the folders that the files of a kind lie in. */
int wr_probe_small_folders(struct wr_probe_place *p, char kind, weir_err *err);
int wr_probe_small_remove(struct wr_probe_place *p, char kind, weir_err *err);

/* Opens the place: removes what dead probes left, checks the space, makes the
 * folder. After a failure there is nothing to close. */
int wr_probe_place_open(struct wr_probe_place *p,
                        const struct wr_probe_plan *plan, uint64_t *ret_free,
                        weir_err *err);
/* Lays out all files, which is `part` of the progress. */
int wr_probe_place_fill(struct wr_probe_place *p, double part, weir_err *err);
/* Removes all of it. */
int wr_probe_place_close(struct wr_probe_place *p, weir_err *err);

/* --- probe_cache.c --- */

/* Whether a direct read of the files of READ, WRITE or FILES leaves no trace in
 * the page cache; true where the plan has none. */
int wr_probe_direct_works(struct wr_probe_place *p, enum wr_probe_op op,
                          bool *ret, weir_err *err);
/* Drops what `test` is going to read or write; *ret_resident as in
 * struct wr_probe_run. */
int wr_probe_make_cold(struct wr_probe_place *p,
                       const struct wr_probe_test *test, double *ret_resident,
                       weir_err *err);
/* Fills `below` and `signs`. */
void wr_probe_find_cache_below(const struct wr_probe_place *p,
                               struct wr_probe_report *r);

/* --- probe_run.c: one run of one test --- */

struct wr_probe_job {
    struct wr_probe_place *place;     /* borrowed */
    const struct wr_probe_test *test; /* borrowed */
    uint64_t stream;                  /* of random numbers: its own each run */
    double seconds;                   /* 0: until all files are done */
    char kind;                        /* FILES, CREATE: of the files */
    const char *name;                 /* for the progress */
    double from, to;                  /* its part of the progress */
    char *engine;                     /* out: 16 bytes; may be NULL */
};

enum wr_probe_phase { WR_PROBE_PREPARE, WR_PROBE_GO, WR_PROBE_RELEASE };

/* What all workers of a run share. */
struct wr_probe_crew {
    const struct wr_probe_job *job; /* borrowed */
    struct wr_perm perm;            /* of what is done once each */
    atomic_uint_fast64_t next;      /* position in it */
    atomic_bool halt;

    pthread_mutex_t lock; /* guards all below; times are fixed at GO */
    pthread_cond_t change;
    enum wr_probe_phase phase;
    unsigned ready, done; /* workers */
    uint64_t start_ns, count_ns, end_ns;
};

struct wr_probe_worker {
    struct wr_probe_crew *crew; /* borrowed */
    pthread_t thread;
    unsigned index;
    struct wr_object *object; /* owned; of the big file */
    struct wr_queue *queue;   /* owned; NULL: plain calls */
    unsigned depth;
    size_t cap;                   /* bytes of each buffer */
    uint8_t *buf;                 /* owned: depth of them */
    struct wr_io *ios;            /* owned: depth */
    struct wr_io **list;          /* owned: depth */
    uint64_t *since_ns;           /* owned: depth */
    char (*paths)[WR_PROBE_PATH]; /* owned: depth; FILES in a queue */
    uint64_t at, first, last;     /* SEQUENTIAL: its region */
    uint64_t dice;                /* random numbers drawn */
    uint64_t bytes, ops, last_ns;
    bool began;  /* a request was made */
    bool counts; /* the ramp is over */
    int result;
    weir_err err;
    struct wr_hist latency, open, transfer, close;
};

int wr_probe_run(const struct wr_probe_job *job, struct wr_probe_run *ret,
                 weir_err *err);

void wr_probe_run_done(struct wr_probe_run *run);

static inline bool wr_probe_is_files(const struct wr_probe_test *t)
{
    return t->op == WR_PROBE_FILES || t->op == WR_PROBE_CREATE;
}

/* --- probe_worker.c: what is read and written next --- */

#define WR_PROBE_SYNC_BLOCK 4096u

/* Bytes of the largest request of a test. */
uint64_t wr_probe_largest(const struct wr_probe_place *p,
                          const struct wr_probe_test *t);
/* Bytes of the big file that it reads or writes. */
uint64_t wr_probe_big_bytes(const struct wr_probe_job *job);
/* Whether the worker goes on at now_ns. One request is made in any case, be it
 * late: a run without one tells nothing. */
bool wr_probe_goes_on(struct wr_probe_worker *w, uint64_t now_ns);
/* --- probe_worker.c: what one thread does --- */

/* Bytes of the buffers of a test's workers, all together. */
uint64_t wr_probe_memory(const struct wr_probe_place *p,
                         const struct wr_probe_test *t);
/* All in the worker's thread: what can be done before the clock starts; the
 * test itself; what is left to do after it. To be released in any case. */
int wr_probe_prepare(struct wr_probe_worker *w);
int wr_probe_work(struct wr_probe_worker *w);
void wr_probe_release(struct wr_probe_worker *w);
/* Keeps the queue full of requests that `next` prepares (slot k, false: no
 * more) until it has no more. */
int wr_probe_pump(struct wr_probe_worker *w,
                  bool (*next)(struct wr_probe_worker *w, unsigned k,
                               uint64_t now_ns));
/* Reads all of [offset, offset + len) into w->buf; `path` is for the message. */
int wr_probe_read(struct wr_probe_worker *w, struct wr_object *o,
                  const char *path, uint64_t offset, size_t len);

/* Counts a request that was answered. */
void wr_probe_count(struct wr_probe_worker *w, uint64_t bytes, uint64_t ns,
                    uint64_t now_ns);

/* --- probe_run.c: small files --- */

/* What a worker of FILES and CREATE does between GO and the end. */
int wr_probe_read_files(struct wr_probe_worker *w);
int wr_probe_create_files(struct wr_probe_worker *w);
/* --- all of them --- */

static inline bool wr_probe_is_stopped(const struct wr_probe_plan *plan)
{
    return plan->stopped && plan->stopped();
}

static inline void wr_probe_tell(const struct wr_probe_plan *plan,
                                 const char *what, double part)
{
    if (plan->progress)
        plan->progress(plan->progress_arg, what, part);
}

/* --- probe.c --- */

/* Medians and extremes of the runs; `scratch` has room for one number each. */
void wr_probe_summarize(struct wr_probe_result *res, double *scratch);

/* Fills memory with bytes that nothing compresses. */
void wr_probe_noise(void *buf, size_t len, uint64_t seed);

#endif
