/* read_write.c - reads and writes of all the bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/read_write.h"

#include <errno.h>
#include <unistd.h>

/* `offset` is NULL: from where the descriptor stands. */
static ssize_t read_from(int fd, void *buf, size_t len, const off_t *offset)
{
    size_t done = 0;

    while (done < len) {
        char *at = (char *)buf + done;
        ssize_t n = offset ? pread(fd, at, len - done, *offset + (off_t)done)
                           : read(fd, at, len - done);

        if (n < 0 && errno != EINTR)
            return -errno;
        if (n == 0)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)done;
}

ssize_t wr_read_all(int fd, void *buf, size_t len)
{
    return read_from(fd, buf, len, NULL);
}

ssize_t wr_pread_all(int fd, void *buf, size_t len, off_t offset)
{
    return read_from(fd, buf, len, &offset);
}

int wr_pwrite_all(int fd, const void *buf, size_t len, off_t offset)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = pwrite(fd, (const char *)buf + done, len - done,
                           offset + (off_t)done);

        if (n == 0)
            return -EIO; /* no reason given, and it would go on so */
        if (n < 0 && errno != EINTR)
            return -errno;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}
