/* ringreads.c - reads known amounts by io_uring.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: ringreads FILE TIMES BYTES [registered] */
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEPTH 32

static long reap(struct io_uring *ring, int count)
{
    struct io_uring_cqe *cqe;
    long sum = 0;

    for (; count && io_uring_wait_cqe(ring, &cqe) == 0; count--) {
        sum += cqe->res;
        io_uring_cqe_seen(ring, cqe);
    }
    return sum;
}

int main(int argc, char **argv)
{
    int times = argc > 2 ? atoi(argv[2]) : 0;
    unsigned bytes = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
    int fd = argc > 3 ? open(argv[1], O_RDONLY) : -1, is_fixed = argc > 4;
    char *buf = malloc((size_t)DEPTH * bytes);
    struct io_uring ring;
    long sum = 0;

    if (fd < 0 || !buf)
        return 2;
    if (io_uring_queue_init(DEPTH, &ring, 0) < 0)
        return 77;
    if (is_fixed && io_uring_register_files(&ring, &fd, 1) < 0)
        return 77;
    for (int k = 0; k < times; k += DEPTH) {
        int n = times - k < DEPTH ? times - k : DEPTH;

        for (int i = 0; i < n; i++) {
            struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

            io_uring_prep_read(sqe, is_fixed ? 0 : fd, buf + (size_t)i * bytes,
                               bytes, (unsigned)(k + i) * bytes);
            sqe->flags |= is_fixed ? IOSQE_FIXED_FILE : 0;
        }
        io_uring_submit(&ring);
        sum += reap(&ring, n);
    }
    printf("sum: %ld\n", sum);
    if (is_fixed)
        usleep(200000); /* weir asks the ring for its files */
    io_uring_queue_exit(&ring);
    return 0;
}
