/* listing.c - the entries of folders, sorted by name, and which of them are ignored.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/listing.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/thread.h"

/* --- files that no format takes, counted by their endings --- */

void wr_ignored_done(struct wr_ignored *ig)
{
    free(ig->list);
    *ig = (struct wr_ignored){0};
}

/* The ending of `name` in small letters, "" if there is none to speak of. */
static void ending(const char *name, char *to, size_t cap)
{
    const char *dot = strrchr(name, '.');
    size_t len = dot && dot != name ? strlen(dot) : 0;

    to[0] = '\0';
    if (len < 2 || len >= cap)
        return;
    for (size_t k = 1; k < len; k++)
        if (!wr_is_alnum(dot[k]) && dot[k] != '_' && dot[k] != '-')
            return;
    for (size_t k = 0; k <= len; k++)
        to[k] = wr_lower(dot[k]);
}

bool wr_ignored_counts(const char *name)
{
    static const char *const beside[] = {
        ".txt", ".md",   ".rst",  ".csv", ".tsv",  ".json",  ".jsonl", ".xml",
        ".yml", ".yaml", ".toml", ".pdf", ".html", ".idx",   ".index", ".widx",
        ".log", ".sh",   ".py",   ".md5", ".sha1", ".sha256"};
    static const char *const names[] = {"README",   "LICENSE",   "COPYING",
                                        "Makefile", "Thumbs.db", "desktop.ini"};
    char ext[16];

    if (name[0] == '.')
        return false;
    for (size_t k = 0; k < WR_ARRAY_LEN(names); k++)
        if (!wr_strcasecmp(name, names[k]))
            return false;
    ending(name, ext, sizeof(ext));
    return !wr_named_find(WR_NAMED(beside), ext);
}

/* The entry of `ext`, or of the rest when there are too many. */
static struct wr_ignored_ext *find(struct wr_ignored *ig, const char *ext)
{
    struct wr_ignored_ext *e;

    for (size_t k = 0; k < ig->count; k++)
        if (!strcmp(ig->list[k].ext, ext))
            return &ig->list[k];
    if (ig->count >= WR_IGNORED_KINDS - 1 && strcmp(ext, WR_IGNORED_REST) != 0)
        return find(ig, WR_IGNORED_REST); /* for which one place is left */
    if (!wr_grow(&ig->list, &ig->cap, ig->count + 1, sizeof(*ig->list)))
        return NULL;
    e = &ig->list[ig->count++];
    memset(e, 0, sizeof(*e)); /* no byte is undefined in a file */
    memcpy(e->ext, ext, strlen(ext));
    return e;
}

bool wr_ignored_add(struct wr_ignored *ig, const char *name)
{
    struct wr_ignored_ext *e;
    char ext[16];

    ending(name, ext, sizeof(ext));
    e = find(ig, ext);
    if (!e)
        return false;
    e->files++;
    return true;
}

bool wr_ignored_merge(struct wr_ignored *ig, const struct wr_ignored *from)
{
    for (size_t k = 0; k < from->count; k++) {
        struct wr_ignored_ext *e = find(ig, from->list[k].ext);

        if (!e)
            return false;
        e->files += from->list[k].files;
    }
    return true;
}

static int compare_endings(const void *a, const void *b)
{
    const struct wr_ignored_ext *x = a, *y = b;

    if (x->files != y->files)
        return x->files < y->files ? 1 : -1;
    return strcmp(x->ext, y->ext);
}

void wr_ignored_sort(struct wr_ignored *ig)
{
    if (ig->count)
        qsort(ig->list, ig->count, sizeof(*ig->list), compare_endings);
}

uint64_t wr_ignored_files(const struct wr_ignored *ig)
{
    uint64_t files = 0;

    for (size_t k = 0; k < ig->count; k++)
        files += ig->list[k].files;
    return files;
}

/* --- the entries of one folder, sorted by name --- */

#define TICK_EVERY 1024 /* entries */

struct collect {
    struct wr_listing *listing;             /* borrowed */
    const struct wr_listing_filter *filter; /* borrowed */
    uint64_t seen;
    bool stop; /* the callback ended it */
};

bool wr_listing_is_ignored(const struct wr_entry *e)
{
    return e->kind == WR_KIND_FILE && wr_ignored_counts(e->name);
}

static int collect_entry(void *arg, const struct wr_entry *e)
{
    struct collect *c = arg;
    struct wr_listing *l = c->listing;
    size_t len = strlen(e->name) + 1;
    int r = 0;

    if (++c->seen % TICK_EVERY == 0 && c->filter->tick)
        r = c->filter->tick(c->filter->arg);
    if (r == 0 && c->filter->wanted && !c->filter->wanted(e)) {
        if (!c->filter->ignored || !c->filter->ignored(e) ||
            wr_ignored_add(&l->ignored, e->name))
            return 0;
        r = WEIR_ENOMEM;
    }
    if (r == 0 &&
        (!wr_grow(&l->names, &l->names_cap, l->names_len + len, 1) ||
         !wr_grow(&l->entries, &l->cap, l->count + 1, sizeof(*l->entries))))
        r = WEIR_ENOMEM;
    if (r != 0) {
        c->stop = true;
        return r;
    }
    memcpy(l->names + l->names_len, e->name, len);
    l->entries[l->count++] = (struct wr_listed){.name = l->names_len,
                                                .size = e->size,
                                                .identity = e->identity,
                                                .kind = e->kind,
                                                .link = e->link};
    l->names_len += len;
    return 0;
}

static size_t common_prefix(const char *a, const char *b, size_t max)
{
    size_t n = 0;

    while (n < max && a[n] && a[n] == b[n])
        n++;
    return n;
}

/* The eight bytes behind the prefix that all names share, most significant
 * first: comparing these decides nearly always. */
static uint64_t sort_key(const char *text)
{
    uint64_t key = 0;

    for (unsigned i = 0; i < 8; i++) {
        key = key << 8 | (uint8_t)*text;
        if (*text)
            text++;
    }
    return key;
}

static void set_keys(struct wr_listing *l)
{
    const char *first = l->names + l->entries[0].name;
    size_t prefix = strlen(first);

    for (size_t k = 1; k < l->count; k++)
        prefix = common_prefix(first, l->names + l->entries[k].name, prefix);
    for (size_t k = 0; k < l->count; k++)
        l->entries[k].key = sort_key(l->names + l->entries[k].name + prefix);
}

static int compare(const void *a, const void *b, void *names)
{
    const struct wr_listed *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return strcmp((const char *)names + x->name, (const char *)names + y->name);
}

int wr_listing_read(struct wr_listing *l, struct wr_store *st, const char *path,
                    const struct wr_listing_filter *filter, bool *ret_stop,
                    weir_err *err)
{
    struct collect c = {.listing = l, .filter = filter};
    int r = st->ops->list(st, path, collect_entry, &c, err);

    *ret_stop = c.stop;
    if (c.stop && r == WEIR_ENOMEM)
        wr_fail(err, r, "'%s': out of memory while listing", path);
    if (l->count) {
        set_keys(l);
        qsort_r(l->entries, l->count, sizeof(*l->entries), compare, l->names);
    }
    return r;
}

const char *wr_listing_name(const struct wr_listing *l, size_t k)
{
    return l->names + l->entries[k].name;
}

size_t wr_listing_find(const struct wr_listing *l, const char *name)
{
    size_t from = 0, to = l->count;

    while (from < to) {
        size_t mid = from + (to - from) / 2;
        int c = strcmp(wr_listing_name(l, mid), name);

        if (c == 0)
            return mid;
        if (c < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return l->count;
}

void wr_listing_done(struct wr_listing *l)
{
    free(l->names);
    free(l->entries);
    wr_ignored_done(&l->ignored);
    memset(l, 0, sizeof(*l));
}

/* --- folders listed by threads, ahead of the walk --- */

#define MAX_THREADS 16u
#define PER_THREAD  4u /* folders listed and not yet popped */
#define TICK_NS     (50 * WR_NS_PER_MS)

enum ahead_state { WAITING, LISTING, LISTED };

struct item {
    char *path; /* owned */
    enum ahead_state state;
    struct wr_folder *folder; /* owned; NULL: not LISTED, or memory is short */
};

/* The stack may move while an item is being listed: what is listed is found
 * again by its place. The walk never pops an item that is LISTING. */
struct wr_ahead {
    struct wr_ahead_config cfg;
    pthread_t threads[MAX_THREADS];
    unsigned thread_count;
    atomic_bool stop;

    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t work;  /* something may be WAITING, or stop */
    pthread_cond_t done;  /* something became LISTED */
    struct item *items;   /* owned: the stack */
    size_t count, cap;
    unsigned held; /* items that are LISTING or LISTED */
};

unsigned wr_ahead_threads(const struct wr_store *store)
{
    unsigned cores = wr_cpu_count();

    /* Wrapped stores count and delay what is asked of them, in its order. */
    if (store->ops != &wr_storage_file)
        return 0;
    /* Folders that are not in memory are waited for: more than cores help. */
    return WR_MIN(WR_MAX(cores, 4u), MAX_THREADS);
}

void wr_folder_free(struct wr_folder *f)
{
    if (!f)
        return;
    wr_listing_done(&f->listing);
    free(f);
}

static struct wr_folder *list_folder(struct wr_store *st, const char *path,
                                     const struct wr_listing_filter *filter)
{
    struct wr_folder *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->stat_r = st->ops->stat(st, path, &f->stat, &f->err);
    if (f->stat_r == 0)
        f->list_r = wr_listing_read(&f->listing, st, path, filter, &f->stop,
                                    &f->err);
    return f;
}

static int thread_tick(void *arg)
{
    struct wr_ahead *a = arg;

    return atomic_load(&a->stop) ? WEIR_ECANCELED : 0;
}

/* The item that the walk needs next and nobody lists yet; SIZE_MAX: none, or
 * enough are held. Called with the lock held. */
static size_t next_item(const struct wr_ahead *a)
{
    if (a->held >= a->thread_count * PER_THREAD)
        return SIZE_MAX;
    for (size_t k = a->count; k-- > 0;)
        if (a->items[k].state == WAITING)
            return k;
    return SIZE_MAX;
}

static void *run(void *arg)
{
    struct wr_ahead *a = arg;
    const struct wr_listing_filter filter = {.wanted = a->cfg.wanted,
                                             .ignored = a->cfg.ignored,
                                             .tick = thread_tick,
                                             .arg = a};

    pthread_mutex_lock(&a->lock);
    while (!atomic_load(&a->stop)) {
        size_t k = next_item(a);
        struct wr_folder *f;
        const char *path;

        if (k == SIZE_MAX) {
            pthread_cond_wait(&a->work, &a->lock);
            continue;
        }
        a->items[k].state = LISTING;
        a->held++;
        path = a->items[k].path;
        pthread_mutex_unlock(&a->lock);
        f = list_folder(a->cfg.store, path, &filter);
        pthread_mutex_lock(&a->lock);
        a->items[k].folder = f;
        a->items[k].state = LISTED;
        pthread_cond_signal(&a->done);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

struct wr_ahead *wr_ahead_new(const struct wr_ahead_config *cfg)
{
    struct wr_ahead *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    a->cfg = *cfg;
    a->cfg.threads = WR_MIN(cfg->threads, MAX_THREADS);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->work, NULL);
    pthread_cond_init(&a->done, NULL);
    return a;
}

bool wr_ahead_push(struct wr_ahead *a, const char *path)
{
    char *copy = strdup(path);
    bool ok;

    pthread_mutex_lock(&a->lock);
    ok = copy && wr_grow(&a->items, &a->cap, a->count + 1, sizeof(*a->items));
    if (ok)
        a->items[a->count++] = (struct item){.path = copy};
    pthread_mutex_unlock(&a->lock);
    if (!ok)
        free(copy);
    return ok;
}

/* Threads are worth it from the second folder on. One that cannot be started
 * is one less. */
static void start_threads(struct wr_ahead *a)
{
    unsigned started = 0;

    while (started < a->cfg.threads &&
           wr_thread_start(&a->threads[started], "weir-list", run, a, NULL) ==
               0)
        started++;
    a->cfg.threads = 0;
    pthread_mutex_lock(&a->lock);
    a->thread_count = started;
    pthread_mutex_unlock(&a->lock);
}

void wr_ahead_go(struct wr_ahead *a)
{
    if (a->cfg.threads && a->count > 1)
        start_threads(a);
    pthread_cond_broadcast(&a->work);
}

/* Waits until the top of the stack is LISTED; false: the tick ended it. Called
 * with the lock held. */
static bool wait_listed(struct wr_ahead *a)
{
    while (a->items[a->count - 1].state == LISTING) {
        uint64_t until = wr_clock_ns() + TICK_NS;
        int r = 0;

        if (!wr_cond_wait_until(&a->done, &a->lock, until) && a->cfg.tick) {
            pthread_mutex_unlock(&a->lock);
            r = a->cfg.tick(a->cfg.arg);
            pthread_mutex_lock(&a->lock);
        }
        if (r != 0)
            return false;
    }
    return true;
}

struct wr_folder *wr_ahead_pop(struct wr_ahead *a)
{
    const struct wr_listing_filter filter = {.wanted = a->cfg.wanted,
                                             .ignored = a->cfg.ignored,
                                             .tick = a->cfg.tick,
                                             .arg = a->cfg.arg};
    struct wr_folder *f = NULL;
    struct item top;

    pthread_mutex_lock(&a->lock);
    if (!wait_listed(a)) { /* the item stays: its thread comes back to it */
        pthread_mutex_unlock(&a->lock);
        return NULL;
    }
    top = a->items[--a->count];
    if (top.state == LISTED) {
        a->held--;
        f = top.folder;
        pthread_cond_signal(&a->work);
    }
    pthread_mutex_unlock(&a->lock);
    if (top.state == WAITING)
        f = list_folder(a->cfg.store, top.path, &filter);
    free(top.path);
    return f;
}

void wr_ahead_free(struct wr_ahead *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    atomic_store(&a->stop, true);
    pthread_cond_broadcast(&a->work);
    pthread_mutex_unlock(&a->lock);
    for (unsigned k = 0; k < a->thread_count; k++)
        pthread_join(a->threads[k], NULL);
    for (size_t k = 0; k < a->count; k++) {
        wr_folder_free(a->items[k].folder);
        free(a->items[k].path);
    }
    free(a->items);
    pthread_cond_destroy(&a->done);
    pthread_cond_destroy(&a->work);
    pthread_mutex_destroy(&a->lock);
    free(a);
}
