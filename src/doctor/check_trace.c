/* check_trace.c - whether weir trace --kernel may ask the kernel.
 * SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PARANOID  "/proc/sys/kernel/perf_event_paranoid"
#define SYS_ADMIN (UINT64_C(1) << 21) /* a capability: mounts tracefs */

/* A field of /proc/self/status that is written in base 16. */
static uint64_t capabilities(const struct wr_doctor *d)
{
    char text[8192];
    const char *at;

    if (wr_doctor_read(d, "/proc/self/status", text, sizeof(text)) <= 0)
        return 0;
    at = strstr(text, "CapEff:");
    return at ? strtoull(at + sizeof("CapEff:") - 1, NULL, 16) : 0;
}

void wr_check_kernel_trace(const struct wr_doctor *d, struct wr_finding *f)
{
    char text[32];

    if (wr_doctor_read(d, PARANOID, text, sizeof(text)) < 0) {
        wr_observed(f, "no perf events: weir trace --kernel does not work");
        wr_means(f, "Traces lack static programs and requests of io_uring.");
        wr_remedy(f, WR_HEALTH_LIMITED, "apt-get install " WR_DOCTOR_KERNEL);
        return;
    }
    if (capabilities(d) & SYS_ADMIN) {
        wr_observed(f, "allowed: weir trace --kernel sees static programs and "
                       "io_uring");
        return;
    }
    wr_observed(f,
                "not allowed: kernel.perf_event_paranoid = %d, and this is "
                "not root",
                atoi(text));
    wr_means(f, "weir trace works; --kernel, which sees static programs and "
                "io_uring, does not.");
    wr_remedy(f, WR_HEALTH_LIMITED, "sudo weir trace --kernel -- COMMAND");
}
