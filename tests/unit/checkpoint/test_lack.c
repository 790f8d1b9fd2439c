/* test_lack.c - a restore that runs out of memory or descriptors and stays so.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The system's fstat and fcntl are replaced by ones that fail when told to. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "saves.h"

#define STEPS   12
#define LIMIT_S 25 /* one lack is waited out for seconds, not once a step */

static _Atomic int failing; /* errno; 0: nothing fails */
static _Atomic bool fails_fcntl;

#define REAL(f) ((__typeof__(&f))dlsym(RTLD_NEXT, NAME_OF(f)))
/* 64-bit offsets: the names that calls are made by. */
#define NAME_OF(f) #f "64"

int fstat(int fd, struct stat *sb)
{
    if (failing && !fails_fcntl) {
        errno = failing;
        return -1;
    }
    return REAL(fstat)(fd, sb);
}

int fcntl(int fd, int cmd, ...)
{
    va_list ap;
    void *arg;

    va_start(ap, cmd);
    arg = va_arg(ap, void *);
    va_end(ap);
    if (failing && fails_fcntl) {
        errno = failing;
        return -1;
    }
    return REAL(fcntl)(fd, cmd, arg);
}

static void a_restore_ends(void **state)
{
    static const struct {
        int os_errno;
        bool fcntl;
        int code;
    } cases[] = {{ENOMEM, false, WEIR_ENOMEM}, {ENFILE, true, WEIR_EMFILE}};
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, (struct saves_tiers){.two = true});
    weir_ckpt *c;

    cfg.keep_last = 0;
    cfg.keep_fast = STEPS;
    c = saves_open(&cfg);
    for (uint64_t i = 1; i <= STEPS; i++)
        saves_must(s, c, i, WEIR_LEVEL_SLOW);
    saves_close(c);
    cfg.role = WEIR_CKPT_READ;
    for (size_t i = 0; i < WR_ARRAY_LEN(cases); i++) {
        uint64_t begun_ns, took_ns;
        weir_err err;
        int r;

        c = saves_open(&cfg);
        begun_ns = wr_clock_ns();
        fails_fcntl = cases[i].fcntl;
        failing = cases[i].os_errno;
        r = weir_ckpt_restore(c, WEIR_LATEST, &s->tensor, 1, NULL, &err);
        failing = 0;
        took_ns = wr_clock_ns() - begun_ns;
        print_message("case %zu: %d after %.1f s: %s\n", i, r,
                      (double)took_ns / 1e9, r < 0 ? err.msg : "");
        assert_true(r == cases[i].code || (r == 1 && cases[i].fcntl));
        assert_true(took_ns < LIMIT_S * WR_NS_PER_SEC);
        assert_int_equal(
            weir_ckpt_restore(c, WEIR_LATEST, &s->tensor, 1, NULL, &err), 1);
        saves_close(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_restore_ends, saves_setup,
                                        saves_teardown),
    };

    saves_in_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
