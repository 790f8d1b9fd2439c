/* failmalloc.c - allocations that fail on command, in the libraries too.
 * SPDX-License-Identifier: Apache-2.0 */
#include "failmalloc.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) &&                    \
    !defined(__SANITIZE_THREAD__)

/* Seen by the shared libraries, whatever the project's visibility is. */
#define EXPORTED __attribute__((visibility("default")))

/* glibc's own, under the names that stay when malloc is replaced. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t align, size_t size);

static atomic_bool counting;
static atomic_ulong count, fail_from, fail_to;

static bool is_failing(void)
{
    unsigned long n;

    if (!atomic_load(&counting))
        return false;
    n = atomic_fetch_add(&count, 1);
    if (n < atomic_load(&fail_from) || n >= atomic_load(&fail_to))
        return false;
    errno = ENOMEM;
    return true;
}

EXPORTED void *malloc(size_t size)
{
    return is_failing() ? NULL : __libc_malloc(size);
}

EXPORTED void *calloc(size_t n, size_t size)
{
    return is_failing() ? NULL : __libc_calloc(n, size);
}

EXPORTED void *realloc(void *p, size_t size)
{
    return is_failing() ? NULL : __libc_realloc(p, size);
}

EXPORTED void *aligned_alloc(size_t align, size_t size)
{
    return is_failing() ? NULL : __libc_memalign(align, size);
}

EXPORTED int posix_memalign(void **ret, size_t align, size_t size)
{
    void *p = is_failing() ? NULL : __libc_memalign(align, size);

    if (!p)
        return ENOMEM;
    *ret = p;
    return 0;
}

bool fm_can_fail(void)
{
    return true;
}

void fm_start(unsigned long from, unsigned long to)
{
    atomic_store(&fail_from, from);
    atomic_store(&fail_to, to);
    atomic_store(&count, 0);
    atomic_store(&counting, true);
}

unsigned long fm_stop(void)
{
    atomic_store(&counting, false);
    return atomic_load(&count);
}

#else

bool fm_can_fail(void)
{
    return false;
}

void fm_start(unsigned long from, unsigned long to)
{
    (void)from;
    (void)to;
}

unsigned long fm_stop(void)
{
    return 0;
}

#endif
