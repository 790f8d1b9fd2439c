/* device.c - what an emulated device allows, in virtual time.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: bench-device PROFILE BYTES DEPTH
 *
 * Prints the files per second of readers that keep DEPTH reads of whole files of
 * BYTES bytes in flight, each of another file, for ever. No clock is involved
 * and nothing of the pipeline or of a run: only the model (storage/device.h). */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "storage/device.h"

#define DEPTH_MAX 4096
#define WARM_UP   10000 /* requests before those that count */
#define COUNTED   100000

static unsigned first_of(const uint64_t *due, unsigned depth)
{
    unsigned best = 0;

    for (unsigned k = 1; k < depth; k++)
        if (due[k] < due[best])
            best = k;
    return best;
}

/* Seconds that COUNTED requests take: whenever one is done, the next comes. */
static double seconds_of(struct wr_device *d, uint64_t bytes, unsigned depth)
{
    uint64_t due[DEPTH_MAX] = {0}, from = 0, now = 0;

    for (uint64_t k = 0; k < WARM_UP + COUNTED; k++) {
        struct wr_device_request rq = {
            .op = WR_DEVICE_READ, .object = k, .len = bytes, .opens = true};
        unsigned slot = first_of(due, depth);

        now = due[slot];
        if (k == WARM_UP)
            from = now;
        due[slot] = wr_device_submit(d, &rq, now);
    }
    return (double)(now - from) * 1e-9;
}

int main(int argc, char **argv)
{
    struct wr_device_profile p;
    struct wr_device *d = NULL;
    unsigned long long bytes;
    unsigned long depth;
    weir_err err;

    bytes = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
    depth = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
    if (!bytes || !depth || depth > DEPTH_MAX) {
        fprintf(stderr, "usage: bench-device PROFILE BYTES DEPTH\n");
        return 2;
    }
    if (wr_device_profile_find(argv[1], &p, &err) < 0 ||
        wr_device_new(&p, &d, &err) < 0) {
        fprintf(stderr, "bench-device: %s\n", err.msg);
        return 1;
    }
    printf("%.6f\n", COUNTED / seconds_of(d, bytes, (unsigned)depth));
    wr_device_free(d);
    return 0;
}
