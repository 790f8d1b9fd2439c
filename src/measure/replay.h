/* replay.h - the requests of a traced program, issued again elsewhere.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One thread per traced thread issues its requests in their order and with the
 * pauses between them, through the storage layer; on an emulated device all this
 * is computed instead. The caller takes the requests from a trace and says which
 * file is which below the store. */
#ifndef WR_MEASURE_REPLAY_H
#define WR_MEASURE_REPLAY_H

#include "base/hist.h"
#include "storage/device.h"
#include "storage/storage.h"

#define WR_REPLAY_THREADS 4096 /* at most */
#define WR_REPLAY_NAMED   3    /* missing files that are named */

enum wr_replay_op {
    WR_REPLAY_OPEN,
    WR_REPLAY_CLOSE,
    WR_REPLAY_READ,
    WR_REPLAY_WRITE, /* into files that are the replay's own */
    WR_REPLAY_SYNC,
    WR_REPLAY_STAT,
    WR_REPLAY_LIST, /* a whole folder */
    WR_REPLAY_OPS
};

enum wr_replay_outcome {
    WR_REPLAY_NOT_DONE,
    WR_REPLAY_DONE,
    WR_REPLAY_MISSING, /* its file is not there, though it was when traced */
    WR_REPLAY_SHORT,   /* fewer bytes than traced: the file ends before */
    WR_REPLAY_FAILED,
};

struct wr_replay_request {
    uint64_t start_ns, dur_ns; /* as traced */
    uint64_t took_ns;          /* filled by the replay */
    uint64_t offset;           /* UINT64_MAX: on from the request before */
    uint64_t bytes;
    uint32_t file, thread; /* numbers; threads from 0 without gaps */
    uint8_t op;            /* enum wr_replay_op */
    uint8_t outcome;       /* enum wr_replay_outcome; filled by the replay */
    bool buffered;         /* by stdio: small reads share a request */
    bool failed;           /* when traced: it may fail again */
    bool direct;           /* past the page cache */
    bool mapped;           /* a page fault */
};

struct wr_replay_file {
    const char *path; /* borrowed: below the store */
    bool own;         /* made by the replay, and may be written */
};

struct wr_replay_plan {
    struct wr_store *store; /* borrowed */
    const struct wr_replay_file *files;
    struct wr_replay_request *requests; /* in any order; sorted by the replay */
    size_t file_count, request_count;
    uint32_t threads;
    bool asap;             /* no pauses */
    bool (*stopped)(void); /* NULL: never */

    /* NULL: in real time, through the store. Else nothing is read or written: how
     * long this device would take is computed, and of the store only the sizes
     * of files are asked. */
    const struct wr_device_profile *profile; /* borrowed */
    uint64_t memory_bytes; /* for its page cache; 0: no limit */
};

struct wr_replay_class {
    uint64_t bytes;
    struct wr_hist traced, replayed; /* ns of the requests that were done */
};

struct wr_replay_result {
    struct wr_replay_class classes[WR_REPLAY_OPS];
    uint64_t traced_ns, replayed_ns; /* from the first request to the last */
    uint64_t done, missing, cut, failed; /* requests */
    uint32_t missing_files[WR_REPLAY_NAMED];
    uint32_t missing_count; /* of those that are named */
    weir_err first; /* what the first failed one died of; code 0: none did */
};

/* WEIR_ECANCELED: stopped() said so. *ret is fresh memory (free()). */
int wr_replay(const struct wr_replay_plan *plan, struct wr_replay_result **ret,
              weir_err *err);

const char *wr_replay_op_name(unsigned op); /* static */

/* Sum of all requests' times, as traced and as replayed. */
uint64_t wr_replay_sum(const struct wr_replay_result *r, bool traced);

#endif
