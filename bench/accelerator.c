/* accelerator.c - how exactly emulated accelerators keep their steps.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: bench-accelerator NAME BATCH SECONDS
 *
 * Steps one after the other, as if every batch were ready, so long and at least
 * one. Prints, in
 * milliseconds: the nominal step, the mean of the steps, by how much the median
 * step and that of the 99th percentile are off, and the CPU time as a part of a
 * core. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/units.h"
#include "measure/accelerator.h"

#define MAX_STEPS   1000000
#define MAX_SECONDS 3600

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int measure(const struct wr_accelerator *a, uint32_t batch, size_t steps)
{
    double nominal = wr_accelerator_step_ms(a, batch);
    double *off = calloc(steps, sizeof(*off));
    struct wr_accelerator_clock clock = {0};
    uint64_t begin = wr_clock_ns(), cpu = wr_clock_thread_cpu_ns();
    uint64_t last = begin;

    if (!off)
        return 1;
    for (size_t i = 0; i < steps; i++) {
        uint64_t now;

        wr_accelerator_start(a, &clock, batch);
        wr_accelerator_wait(&clock, NULL);
        now = wr_clock_ns();
        off[i] = fabs((double)(now - last) / 1e6 - nominal);
        last = now;
    }
    cpu = wr_clock_thread_cpu_ns() - cpu;
    qsort(off, steps, sizeof(*off), by_value);
    printf("%.6f %.6f %.6f %.6f %.6f\n", nominal,
           (double)(last - begin) / 1e6 / (double)steps, off[steps / 2],
           off[steps * 99 / 100], (double)cpu / (double)(last - begin));
    free(off);
    return 0;
}

int main(int argc, char **argv)
{
    struct wr_accelerator a;
    uint64_t batch, seconds;
    double steps;
    weir_err err;

    if (argc != 4 || wr_parse_uint(argv[2], 1, 1 << 20, &batch, &err) < 0 ||
        wr_parse_uint(argv[3], 0, MAX_SECONDS, &seconds, &err) < 0) {
        fprintf(stderr, "usage: bench-accelerator NAME BATCH SECONDS\n");
        return 2;
    }
    if (wr_accelerator_parse(argv[1], &a, &err) < 0) {
        fprintf(stderr, "bench-accelerator: %s\n", err.msg);
        return 2;
    }
    steps = (double)seconds * 1000 /
            wr_accelerator_step_ms(&a, (uint32_t)batch);
    return measure(&a, (uint32_t)batch,
                   steps > MAX_STEPS ? MAX_STEPS : (size_t)fmax(steps, 1));
}
