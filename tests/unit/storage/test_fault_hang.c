/* test_fault_hang.c - requests that do not return.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "storage/fault.h"
#include "storage/storage.h"

struct hung {
    struct wr_store *st;
    atomic_int done;
};

static void *stat_and_open(void *arg)
{
    struct hung *h = arg;
    struct wr_object *o;
    struct wr_stat is;

    if (h->st->ops->stat(h->st, "a.bin", &is, NULL) == 0)
        h->done++;
    if (h->st->ops->object_open(h->st, "a.bin", WR_OPEN_READ, &o, NULL) == 0 &&
        o->ops->close(o, /* sync= */ false, NULL) == 0)
        h->done++;
    return NULL;
}

/* Nothing returns while the file is there. */
static void requests_that_hang(void **state)
{
    char dir[200], file[220], url[500], *leaf = NULL;
    const char *base = getenv("TMPDIR");
    struct hung h = {0};
    pthread_t thread;

    (void)state;
    snprintf(dir, sizeof(dir), "%s/weir-test-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(dir));
    snprintf(file, sizeof(file), "%s/a.bin", dir);
    assert_int_equal(close(creat(file, 0600)), 0);
    snprintf(file, sizeof(file), "%s/hung", dir);
    snprintf(url, sizeof(url), "fault:hang=%s@~a.b:%s", file, dir);
    assert_int_equal(close(creat(file, 0600)), 0);
    assert_int_equal(wr_store_open(url, &h.st, &leaf, NULL), 0);
    assert_int_equal(pthread_create(&thread, NULL, stat_and_open, &h), 0);
    while (wr_fault_seen(h.st, WR_FAULT_HUNG) == 0)
        sched_yield();
    assert_int_equal(wr_fault_seen(h.st, WR_FAULT_STAT), 1);
    assert_int_equal(h.done, 0);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(h.done, 2);
    assert_int_equal(wr_fault_seen(h.st, WR_FAULT_HUNG), 1);
    wr_store_close(h.st);
    snprintf(file, sizeof(file), "%s/a.bin", dir);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_that_hang),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
