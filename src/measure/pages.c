/* pages.c - what a kernel asks a device for: a model of its page cache.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Pages that the device has not delivered yet. */
struct page_flight {
    uint64_t first, end, due_ns;
};

struct paged_file {
    uint64_t *bits; /* owned: in memory, or on the way there */
    size_t words;
    uint64_t cached;             /* bits that are set */
    struct page_flight *flights; /* owned */
    size_t flight_count, flight_cap;
    uint32_t older, newer; /* in the order of use; NONE: the end */
    bool listed;
};

#define NONE UINT32_MAX

struct wr_pages {
    struct wr_pages_config cfg;
    uint64_t window_max, limit; /* pages; limit 0: none */
    uint64_t cached;
    struct paged_file *files; /* owned */
    uint32_t oldest, newest;
    bool failed;
};

struct wr_pages *wr_pages_new(const struct wr_pages_config *cfg, size_t files)
{
    struct wr_pages *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->cfg = *cfg;
    c->window_max = cfg->readahead_bytes / WR_PAGE;
    c->limit = cfg->memory_bytes / WR_PAGE;
    c->oldest = c->newest = NONE;
    c->files = calloc(WR_MAX(files, (size_t)1), sizeof(*c->files));
    if (!c->files) {
        free(c);
        return NULL;
    }
    return c;
}

/* --- which files are used --- */

static void unlink_file(struct wr_pages *c, struct paged_file *f)
{
    if (!f->listed)
        return;
    *(f->older == NONE ? &c->oldest : &c->files[f->older].newer) = f->newer;
    *(f->newer == NONE ? &c->newest : &c->files[f->newer].older) = f->older;
    f->listed = false;
}

static void make_newest(struct wr_pages *c, uint32_t file)
{
    struct paged_file *f = &c->files[file];

    if (c->newest == file)
        return;
    unlink_file(c, f);
    f->older = c->newest;
    f->newer = NONE;
    *(c->newest == NONE ? &c->oldest : &c->files[c->newest].newer) = file;
    c->newest = file;
    f->listed = true;
}

static void forget(struct wr_pages *c, struct paged_file *f)
{
    unlink_file(c, f);
    c->cached -= f->cached;
    free(f->bits);
    free(f->flights);
    *f = (struct paged_file){0};
}

void wr_pages_free(struct wr_pages *c)
{
    if (!c)
        return;
    while (c->oldest != NONE)
        forget(c, &c->files[c->oldest]);
    free(c->files);
    free(c);
}

/* --- pages --- */

static bool is_cached(const struct paged_file *f, uint64_t page)
{
    return page / 64 < f->words && f->bits[page / 64] >> page % 64 & 1;
}

static bool set_cached(struct wr_pages *c, struct paged_file *f, uint64_t first,
                       uint64_t end)
{
    size_t had = f->words, need = (size_t)((end + 63) / 64);

    if (need > had) {
        if (!wr_grow(&f->bits, &f->words, need, sizeof(*f->bits)))
            return false;
        memset(f->bits + had, 0, (f->words - had) * sizeof(*f->bits));
    }
    for (uint64_t p = first; p < end; p++) {
        bool fresh = !is_cached(f, p);

        f->bits[p / 64] |= UINT64_C(1) << p % 64;
        f->cached += fresh;
        c->cached += fresh;
    }
    return true;
}

/* When a page that is cached has arrived; what came before is forgotten. */
static uint64_t arrival(struct paged_file *f, uint64_t page, uint64_t now)
{
    uint64_t due = now;
    size_t kept = 0;

    for (size_t k = 0; k < f->flight_count; k++) {
        const struct page_flight *g = &f->flights[k];

        if (g->due_ns <= now)
            continue;
        if (page >= g->first && page < g->end)
            due = WR_MAX(due, g->due_ns);
        f->flights[kept++] = *g;
    }
    f->flight_count = kept;
    return due;
}

static void ask(struct wr_pages *c, const struct wr_pages_want *w,
                uint64_t first, uint64_t end, uint64_t now)
{
    struct paged_file *f = &c->files[w->file];
    uint64_t at = first * WR_PAGE, upto = WR_MIN(end * WR_PAGE, w->size);
    uint64_t due = c->cfg.ask(c->cfg.arg, w->file, at, upto - at, now);

    if (!set_cached(c, f, first, end) ||
        !wr_grow(&f->flights, &f->flight_cap, f->flight_count + 1,
                 sizeof(*f->flights))) {
        c->failed = true;
        return;
    }
    f->flights[f->flight_count++] = (struct page_flight){first, end, due};
}

/* Asks for the pages of a window that are not cached, as far as the file
 * goes. */
static void bring(struct wr_pages *c, const struct wr_pages_want *w,
                  uint64_t start, uint64_t size, uint64_t now)
{
    const struct paged_file *f = &c->files[w->file];
    uint64_t pages = (w->size + WR_PAGE - 1) / WR_PAGE;
    uint64_t end = start >= pages ? start : WR_MIN(start + size, pages);

    while (start < end) {
        uint64_t upto = start;

        while (upto < end && upto - start < WR_PAGES_A_REQUEST &&
               !is_cached(f, upto))
            upto++;
        if (upto > start)
            ask(c, w, start, upto, now);
        start = WR_MAX(upto, start + 1);
    }
}

/* --- windows --- */

static uint64_t round_up_to_power(uint64_t n)
{
    uint64_t p = 1;

    while (p < n && p < UINT64_C(1) << 40)
        p *= 2;
    return p;
}

/* get_init_ra_size() */
static uint64_t first_window(uint64_t count, uint64_t max)
{
    uint64_t size = round_up_to_power(count);

    if (size <= max / 32)
        return size * 4;
    return size <= max / 4 ? size * 2 : max;
}

/* get_next_ra_size() */
static uint64_t next_window(uint64_t size, uint64_t max)
{
    if (size < max / 16)
        return size * 4;
    return size <= max / 2 ? size * 2 : max;
}

/* Cached pages without a gap before `page`; *ret_from_start when they begin with
 * the file. */
static uint64_t run_before(const struct paged_file *f, uint64_t page,
                           uint64_t max, bool *ret_from_start)
{
    uint64_t n = 0;

    while (n < max && n < page && is_cached(f, page - 1 - n))
        n++;
    *ret_from_start = n == page;
    return n;
}

static void set_window(struct wr_page_stream *s, uint64_t start, uint64_t size,
                       uint64_t async)
{
    s->start = start;
    s->size = size;
    s->async = async;
    s->marked = async > 0;
}

/* A page fault takes what lies around it too. */
static void bring_around(struct wr_pages *c, struct wr_page_stream *s,
                         const struct wr_pages_want *w, uint64_t now)
{
    uint64_t half = c->window_max / 2;

    set_window(s, w->page > half ? w->page - half : 0,
               WR_MAX(c->window_max, UINT64_C(1)), c->window_max / 4);
    bring(c, w, s->start, s->size, now);
}

/* The page is not cached. */
static void bring_missing(struct wr_pages *c, struct wr_page_stream *s,
                          const struct wr_pages_want *w, uint64_t now)
{
    uint64_t max = c->window_max, run;
    bool from_start;

    if (!max) {
        bring(c, w, w->page, 1, now);
        return;
    }
    if (!w->page || w->count > max || w->page - s->last <= 1) {
        uint64_t size = first_window(w->count, max);

        set_window(s, w->page, size,
                   size > w->count ? size - w->count : size / 2);
        bring(c, w, s->start, s->size, now);
        return;
    }
    run = run_before(&c->files[w->file], w->page, max, &from_start);
    if (run <= w->count) { /* a read somewhere: as it is */
        bring(c, w, w->page, w->count, now);
        return;
    }
    if (from_start)
        run *= 2;
    set_window(s, w->page, WR_MIN(run + w->count, max), 1);
    bring(c, w, s->start, s->size, now);
}

/* The mark of the window was reached: the next one. */
static void bring_next(struct wr_pages *c, struct wr_page_stream *s,
                       const struct wr_pages_want *w, uint64_t now)
{
    uint64_t size = next_window(s->size, c->window_max);

    set_window(s, s->start + s->size, size, size);
    bring(c, w, s->start, s->size, now);
}

/* The file that was not used for the longest time leaves; of a file that does
 * not fit alone, all of it. */
static void make_room(struct wr_pages *c)
{
    while (c->limit && c->cached > c->limit && c->oldest != NONE)
        forget(c, &c->files[c->oldest]);
}

uint64_t wr_pages_read(struct wr_pages *c, struct wr_page_stream *s,
                       const struct wr_pages_want *w, uint64_t now)
{
    struct paged_file *f = &c->files[w->file];

    make_newest(c, w->file);
    make_room(c);
    if (!is_cached(f, w->page)) {
        make_newest(c, w->file); /* it may have left */
        if (w->mapped)
            bring_around(c, s, w, now);
        else
            bring_missing(c, s, w, now);
    }
    if (s->marked && w->page == s->start + s->size - s->async)
        bring_next(c, s, w, now);
    return arrival(f, w->page, now);
}

void wr_pages_written(struct wr_pages *c, uint32_t file, uint64_t page,
                      uint64_t count)
{
    make_newest(c, file);
    make_room(c);
    make_newest(c, file);
    if (!set_cached(c, &c->files[file], page, page + count))
        c->failed = true;
}

bool wr_pages_failed(const struct wr_pages *c)
{
    return c->failed;
}
