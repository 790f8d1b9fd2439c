/* fuzz_wire.c - frames that another rank sends.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comm/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_wire w = {.rank = 1};
    weir_err err = {0};
    int ends[2], r;

    if (size > 65536 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return 0;
    if (size && send(ends[0], data, size, MSG_DONTWAIT) != (ssize_t)size)
        abort();
    close(ends[0]);
    w.fd = ends[1];
    do {
        struct wr_wire_job job = {
            .kind = WR_WIRE_PART, .call = 1, .timeout_ms = 1000};

        r = wr_wire_run(&w, 1, &job, &err);
    } while (r == 0);
    if (err.code >= 0 || !err.msg[0])
        abort();
    wr_wire_close(&w);

    /* The same bytes, looked through for the reason of a failure. */
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return 0;
    if (size && send(ends[0], data, size, MSG_DONTWAIT) != (ssize_t)size)
        abort();
    close(ends[0]);
    w = (struct wr_wire){.fd = ends[1], .rank = 2};
    if (wr_wire_alive(&w, &err) >= 0)
        abort();
    wr_wire_close(&w);
    return 0;
}
