/* fuzz_moved.c - what emulated devices moved.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "storage/moved.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each time once, in order. */
static void check(const struct wr_moved_row *rows, size_t count)
{
    for (size_t k = 1; k < count; k++)
        if (rows[k - 1].ms >= rows[k].ms)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("moved", MFD_CLOEXEC);
    struct wr_moved_row *rows = NULL;
    size_t count = 0;
    char path[64];
    weir_err err;

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (wr_moved_load(path, &rows, &count, &err) < 0)
        abort(); /* any text is such a file, if only of no rows */
    check(rows, count);
    free(rows);
    close(fd);
    return 0;
}
