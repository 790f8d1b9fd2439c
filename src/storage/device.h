/* device.h - a model of a storage device: when would it have answered?
 * SPDX-License-Identifier: Apache-2.0
 *
 * The model knows no clock. Each request is given the time at which it came
 * and gets the time at which the device would be done with it; whoever plays
 * the device (the `emu` storage, the mount) waits until then. So the model is a
 * function of requests and times, and its tests run in virtual time.
 *
 * A request takes a channel (one of `channels` that work at once, first come,
 * first served), spends the latency and, when it does not follow what was read
 * last, a seek; then its bytes go over the one bus at the device's bandwidth.
 * The more requests are waiting, the shorter the seeks, because a device can
 * choose among them: `seek_law` says by how much. Writes go into a write-back
 * cache while there is room, which drains at the write bandwidth; a sync waits
 * for the drain. docs/formats/profile.md has the formulas and the file. */
#ifndef WR_STORAGE_DEVICE_H
#define WR_STORAGE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

#define WR_SEEK_POINTS 12

/* What a profile may say at most. */
#define WR_DEVICE_MAX_CHANNELS 1024u
#define WR_DEVICE_MAX_DEPTH    1024u /* of the law */
#define WR_DEVICE_MAX_US       60e6  /* of a latency or a seek */
#define WR_DEVICE_MIN_RATE     1e3   /* bytes per second, when limited */
#define WR_DEVICE_MAX_RATE     1e15
#define WR_DEVICE_MAX_BYTES    (UINT64_C(1) << 50)

/* A seek costs `factor` of a lone one when `depth` requests are there. */
struct wr_seek_point {
    unsigned depth;
    double factor;
};

struct wr_device_profile {
    char name[32];   /* this and the title: one line without '#' */
    char title[128]; /* what it stands for */
    double read_latency_us, write_latency_us; /* per request */
    double meta_latency_us; /* open, create, rename, remove, list */
    double sync_latency_us; /* of a sync, besides the drain */
    double read_bytes_per_s, write_bytes_per_s; /* 0: no limit */
    unsigned channels;   /* requests worked on at once; 0: no limit */
    double seek_us;      /* a lone seek; 0: none */
    uint64_t near_bytes; /* within so many bytes behind or before the last
                            request of the same object is no seek */
    struct wr_seek_point seek_law[WR_SEEK_POINTS]; /* rising depths; between
                            two of them the logarithms are interpolated, before
                            the first and past the last their factors hold */
    unsigned seek_points; /* 0: every seek costs the same */
    uint64_t write_cache_bytes;
    uint64_t readahead_bytes; /* what a file system on such a device reads
                                 ahead; a hint for the mount, 0: leave it */
};

/* The built-in profiles: k-th, NULL past the end. */
const struct wr_device_profile *wr_device_profile_at(unsigned k);

/* `what` is the name of a built-in profile, or a path (it has a '/' or ends in
 * ".profile") of a profile file. */
int wr_device_profile_find(const char *what, struct wr_device_profile *ret,
                           weir_err *err);

/* The text of a profile file. Messages say "'NAME': line 3: ...". */
int wr_device_profile_parse(const char *text, size_t len, const char *name,
                            struct wr_device_profile *ret, weir_err *err);

/* Writes the text of a profile, NUL-terminated, into fresh memory (free()); it
 * parses to the same profile. NULL when memory is short. */
char *wr_device_profile_text(const struct wr_device_profile *p);

/* The part of a lone seek that one costs while `depth` requests are there. */
double wr_device_law(const struct wr_device_profile *p, unsigned depth);

enum wr_device_op {
    WR_DEVICE_READ,
    WR_DEVICE_WRITE,
    WR_DEVICE_META,
    WR_DEVICE_SYNC
};

struct wr_device_request {
    enum wr_device_op op;
    uint64_t object;      /* which one: any number that tells objects apart */
    uint64_t offset, len; /* READ and WRITE */
    bool opens;           /* READ: the object is opened for it; the two are one
                             request, so that it is known how many wait */
    uint64_t early_ns;    /* answers leave so long before they are due: what is
                             due within it waits no more */
};

struct wr_device;

/* What a device has done. */
struct wr_device_use {
    uint64_t requests, read_bytes, written_bytes;
    uint64_t read_ns;           /* the bus was taken for reads so long */
    uint64_t first_ns, last_ns; /* the first request came, the last is done */
};

/* The profile's numbers must be within the limits above, as those are that come
 * from the functions above. */
int wr_device_new(const struct wr_device_profile *p, struct wr_device **ret,
                  weir_err *err);
void wr_device_free(struct wr_device *d);

/* The request came at `now_ns`: returns when the device is done with it, at
 * least now_ns. Times must not go back by more than the waiting of callers for
 * each other. Safe from any thread. */
uint64_t wr_device_submit(struct wr_device *d,
                          const struct wr_device_request *rq, uint64_t now_ns);

/* Safe from any thread. */
void wr_device_use(struct wr_device *d, struct wr_device_use *ret);

/* The device of this profile in this place (a path or a URL), one for all that
 * ask for it in this process: they slow each other down. Another place is
 * another device. */
int wr_device_ref(const struct wr_device_profile *p, const char *place,
                  struct wr_device **ret, weir_err *err);
void wr_device_unref(struct wr_device *d); /* takes NULL */

#endif
