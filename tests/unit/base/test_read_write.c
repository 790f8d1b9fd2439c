/* test_read_write.c - unit tests of regular.c: short counts, interruptions.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular.h"

#define PIECES 200

static void test_at_an_offset(void **state)
{
    int fd = memfd_create("file", MFD_CLOEXEC);
    char back[8] = "";

    assert_true(fd >= 0);
    assert_int_equal(wr_pwrite_all(fd, "abcdef", 6, 2), 0);
    assert_int_equal(wr_pread_all(fd, back, 4, 3), 4);
    assert_memory_equal(back, "bcde", 4);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
    close(fd);
}

static void test_end_of_file(void **state)
{
    int fd = memfd_create("file", MFD_CLOEXEC);
    char back[8] = "";

    assert_int_equal(wr_pwrite_all(fd, "abc", 3, 0), 0);
    assert_int_equal(wr_pread_all(fd, back, sizeof(back), 1), 2);
    assert_int_equal(wr_pread_all(fd, back, sizeof(back), 3), 0);
    assert_int_equal(wr_read_all(fd, back, sizeof(back)), 3);
    assert_string_equal(back, "abc");
    assert_int_equal(wr_read_all(fd, back, sizeof(back)), 0);
    close(fd);
}

static void test_failures(void **state)
{
    char byte = 0;

    assert_int_equal(wr_read_all(-1, &byte, 1), -EBADF);
    assert_int_equal(wr_pread_all(-1, &byte, 1, 0), -EBADF);
    assert_int_equal(wr_pwrite_all(-1, &byte, 1, 0), -EBADF);
    assert_int_equal(wr_pread_all(-1, &byte, 0, 0), 0); /* asks for nothing */
}

/* An offset of a file that lies is not the place where the descriptor stands. */
static void test_negative_offset(void **state)
{
    int fd = memfd_create("file", MFD_CLOEXEC);
    char byte = 0;

    assert_int_equal(wr_pwrite_all(fd, "abc", 3, 0), 0);
    assert_int_equal(wr_pread_all(fd, &byte, 1, -1), -EINVAL);
    assert_int_equal(wr_pwrite_all(fd, &byte, 1, -1), -EINVAL);
    close(fd);
}

/* The first write falls short at the limit, the second one says why. */
static void test_short_write(void **state)
{
    struct rlimit before, few;
    int fd = memfd_create("file", MFD_CLOEXEC);
    char bytes[100] = "";
    struct stat st;

    assert_true(fd >= 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    few = before;
    few.rlim_cur = 60;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
    assert_int_equal(wr_pwrite_all(fd, bytes, sizeof(bytes), 0), -EFBIG);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 60);
    close(fd);
}

struct feeder {
    pthread_t reader;
    int fd;
};

static void ignore_it(int number)
{
}

/* Between two bytes the reader is interrupted, if it waits by then. */
static void *feed(void *arg)
{
    const struct feeder *f = arg;

    for (int k = 0; k < PIECES; k++) {
        const char byte = (char)k;

        pthread_kill(f->reader, SIGUSR1);
        if (write(f->fd, &byte, 1) != 1)
            break;
        pthread_kill(f->reader, SIGUSR1);
    }
    close(f->fd);
    return NULL;
}

static void test_pipe_in_pieces(void **state)
{
    const struct sigaction act = {.sa_handler = ignore_it};
    char back[PIECES + 8];
    struct feeder f;
    pthread_t thread;
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    assert_int_equal(sigaction(SIGUSR1, &act, NULL), 0);
    f = (struct feeder){pthread_self(), fds[1]};
    assert_int_equal(pthread_create(&thread, NULL, feed, &f), 0);
    assert_int_equal(wr_read_all(fds[0], back, PIECES), PIECES);
    for (int k = 0; k < PIECES; k++)
        assert_int_equal((unsigned char)back[k], k);
    assert_int_equal(wr_read_all(fds[0], back, 8), 0);
    pthread_join(thread, NULL);
    close(fds[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_an_offset),
        cmocka_unit_test(test_end_of_file),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_negative_offset),
        cmocka_unit_test(test_short_write),
        cmocka_unit_test(test_pipe_in_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
