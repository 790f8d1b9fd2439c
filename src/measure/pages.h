/* pages.h - what a kernel asks a device for: a model of its page cache.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Programs ask for bytes, a device is asked for pages: for those that are not in
 * memory, and for more of them ahead of one who reads on. The rules are those of
 * Linux (mm/readahead.c, page_cache_sync_ra and page_cache_async_ra) for a file
 * system whose requests have up to a mebibyte, as `weir mount` has. Knows no
 * clock: who asks says what time it is, and times must not go back. */
#ifndef WR_MEASURE_PAGES_H
#define WR_MEASURE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WR_PAGE            UINT64_C(4096)
#define WR_PAGES_A_REQUEST 256u

struct wr_pages;

/* Of one open file: where it is read and how far ahead. Begins with
 * WR_PAGE_STREAM. Counted in pages. */
struct wr_page_stream {
    uint64_t start, size,
        async;     /* the window that was read ahead last; reaching
                                    its last `async` pages asks for the next */
    uint64_t last; /* page of the last byte of the call before: set
                                    by who reads */
    bool marked;   /* the window has not been reached */
};

#define WR_PAGE_STREAM ((struct wr_page_stream){.last = UINT64_MAX >> 12})

struct wr_pages_config {
    uint64_t readahead_bytes; /* at most */
    uint64_t memory_bytes;    /* for all pages; beyond it the file that was not
                                 read for the longest time leaves; 0: no limit */
    /* A request to the device at `now`; returns when it is done. */
    uint64_t (*ask)(void *arg, uint32_t file, uint64_t offset, uint64_t len,
                    uint64_t now);
    void *arg;
};

/* NULL: memory is short. */
struct wr_pages *wr_pages_new(const struct wr_pages_config *cfg, size_t files);
void wr_pages_free(struct wr_pages *c); /* takes NULL */

/* Which page is read next, and how many with it in the same call. */
struct wr_pages_want {
    uint32_t file;
    uint64_t size; /* of the file, in bytes */
    uint64_t page, count;
    bool mapped; /* by a page fault */
};

/* When the page is there: not after `now` if it is. It must lie in the file. */
uint64_t wr_pages_read(struct wr_pages *c, struct wr_page_stream *s,
                       const struct wr_pages_want *w, uint64_t now);

/* These were written: they are there without asking. */
void wr_pages_written(struct wr_pages *c, uint32_t file, uint64_t page,
                      uint64_t count);

/* True: memory was short, and pages were forgotten too early. */
bool wr_pages_failed(const struct wr_pages *c);

#endif
