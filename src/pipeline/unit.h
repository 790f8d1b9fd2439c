/* unit.h - bytes that several samples share: loaded once, for all of them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A unit is what is read and unpacked together. Two kinds are shared: a block
 * of neighbours, where the order takes samples block by block (they are read
 * by one request, and stay until each sample had its part), and a unit of the
 * index (a gzip object, say: read in pieces, inflated as a whole, kept as
 * long as memory allows). Other samples are read alone and are not known here.
 *
 * Nobody blocks for a unit. Its stored bytes are read by the queues of the
 * workers, several pieces in flight; pieces that came are fed to the filters
 * in their order, by one worker at a time, whichever picks that work. Who is
 * told a step (enum wr_unit_next) other than IDLE has the unit for himself
 * until the next wr_unit_next, and does what the step says.
 *
 * Memory is bounded: when it is used up, the unit that nobody uses and that
 * was used least recently is dropped, and loaded again if it is asked for.
 *
 * What could not be loaded is not tried by every sample again: those of a block
 * are read alone from then on, those of a unit of the index are bad until the
 * epoch ends. */
#ifndef WR_PIPELINE_UNIT_H
#define WR_PIPELINE_UNIT_H

#include <pthread.h>
#include <stdatomic.h>

#include "codec/filters.h"
#include "format/format.h"
#include "pipeline/arena.h"
#include "pipeline/split.h"
#include "storage/storage.h"

struct wr_task;

/* What a finished read belongs to (struct wr_io.tag). */
enum wr_read_tag { WR_TAG_PART, WR_TAG_UNIT };

/* One part of a sample on its way. */
struct wr_read {
    struct wr_io rd;      /* first: rd.tag tells; its data and len are the
                             part's bytes, wherever they came from */
    struct wr_task *task; /* borrowed: it is one of the task's reads */
    unsigned column;
    struct wr_part part;          /* absent: nothing is read */
    struct wr_block block;        /* the bytes, when they are its own */
    struct wr_shared *unit;       /* or those that hold them; NULL: none */
    struct wr_read *next_waiting; /* for the same unit, or for a retry */
    uint64_t lack_ns; /* when resources lacked for it first; 0: they do not */
    bool in_slot;     /* it is read straight into its place in the batch */
    bool resized;     /* its length is that of its file now, not the index's */
    char *path;       /* owned; of its object */
    size_t path_cap;
    int code;   /* 0 or WEIR_E...: what is wrong with this part */
    char *text; /* owned; of the error */
};

/* A piece of the stored bytes of a unit. */
struct wr_unit_piece {
    struct wr_io rd;            /* first */
    struct wr_shared *unit;     /* borrowed */
    struct wr_unit_piece *next; /* in a list of the worker that reads it */
    uint64_t number;
    enum { WR_PIECE_FREE, WR_PIECE_OUT, WR_PIECE_THERE } state;
    bool retried;
    uint64_t lack_ns; /* as wr_read's */
    uint8_t *buf;     /* owned by the table's pool, WR_UNIT_STEP bytes; NULL:
                         none now, or it is read into place */
};

struct wr_unit_load;

enum wr_unit_state { WR_UNIT_EMPTY, WR_UNIT_LOADING, WR_UNIT_LOADED };

/* The bytes of one unit. */
struct wr_shared {
    struct wr_group *group; /* borrowed: the block it is a part of */
    enum wr_unit_state state;
    uint64_t first, count; /* samples, by their place in the part; of a unit of
                              the index: any */
    uint64_t object, offset;
    struct wr_packing packing;
    uint8_t *buf; /* owned by the table's pool; NULL: none */
    size_t cap;
    const uint8_t *bytes;      /* inside buf: byte 0 of what is inflated */
    unsigned users;            /* reads that wait for it, hold it or load it */
    bool failed;               /* a block's: not to be tried again */
    uint64_t left;             /* samples that have not asked yet */
    struct wr_read *waiting;   /* linked by next_waiting */
    struct wr_unit_load *load; /* owned; NULL: nothing of it is in flight */
};

/* The units of one block of samples, or one unit of the index. */
struct wr_group {
    struct wr_units *table; /* borrowed */
    uint64_t epoch, number;
    unsigned column;
    bool indexed; /* it is a unit of the index */
    unsigned users, count;
    struct wr_group *chain;         /* in its bucket */
    struct wr_group *newer, *older; /* by last use */
    weir_err *why; /* owned; indexed: why it could not be loaded, or NULL */
    uint64_t bad_epoch; /* with `why`: up to this one it is not tried again */
    struct wr_shared units[];
};

#define WR_UNIT_BUCKETS 1024u /* at least; a power of two */
#define WR_UNIT_SPARE   64u
/* Pieces that a worker keeps in flight; no more than its depth. */
#define WR_UNIT_WINDOW 16u

struct wr_units {
    const weir_dataset *ds; /* borrowed */
    bool direct, blocks;    /* blocks: the order goes block by block */
    bool in_order;          /* the next unit is the one behind it */
    struct wr_split split;  /* samples are numbered within the part */
    uint64_t block;         /* samples in one */
    size_t limit;           /* bytes for blocks */
    size_t indexed_limit;   /* bytes for units of the index */
    atomic_bool stopping;   /* what is being inflated is not wanted any more */

    pthread_mutex_t lock;      /* guards all below; a leaf lock */
    struct wr_group **buckets; /* owned, and their groups */
    uint64_t bucket_count;     /* a power of two */
    struct wr_group *newest, *oldest;
    size_t used, indexed_used;
    unsigned block_count; /* groups that are blocks */
    struct {
        uint8_t *buf; /* owned */
        size_t cap;
    } spare[WR_UNIT_SPARE]; /* memory that was touched once is kept, within
                               `limit` */
    unsigned spare_count;
    size_t spare_bytes;
    uint8_t **pieces; /* owned: memory for pieces that none has now */
    size_t piece_count, piece_cap;
    uint8_t **slabs; /* owned: what it is part of */
    size_t slab_count, slab_cap;
    unsigned ahead; /* pieces that have memory beside the first of their unit */
    unsigned ahead_most, ahead_limit; /* now, and ever; see wr_piece_take */
    struct wr_shared *early; /* borrowed: being loaded, asked for by none yet */
    uint64_t early_number;   /* the unit that was looked at last for that */
    uint64_t refusals; /* of memory in this process, when it was last looked */
};

/* `cfg` with block_samples settled. */
int wr_units_init(struct wr_units *x, const weir_dataset *ds,
                  const weir_pipeline_config *cfg, weir_err *err);
void wr_units_done(struct wr_units *x);

/* Makes wr_unit_feed fail soon, now and from now on. Any thread. */
void wr_units_stop(struct wr_units *x);

/* --- asking --- */

enum wr_unit_get {
    WR_UNIT_NONE,  /* the part is to be read alone; one of a unit of the index
                      cannot be: there is no memory for that now */
    WR_UNIT_BAD,   /* it cannot be loaded; *err says why */
    WR_UNIT_READY, /* r->rd has the bytes */
    WR_UNIT_WAIT,  /* somebody loads it; the read comes back with it */
    WR_UNIT_LOAD,  /* as WAIT, and the caller is to begin: wr_unit_begin */
};

/* How a read asks. */
enum wr_unit_ask {
    WR_ASK_USUAL,
    WR_ASK_URGENT, /* a unit of the index is loaded whatever memory there is */
    WR_ASK_FILL,   /* the same, for a sample out of its turn */
};

/* For a read whose task, column and part are set. */
enum wr_unit_get wr_units_get(struct wr_units *x, struct wr_read *r,
                              enum wr_unit_ask ask, weir_err *err);
/* Where samples come in their order, the unit behind that of `r`, if it is to be
 * loaded, too, before one asks for it: then the caller is to begin. Otherwise
 * units would be unpacked one after the other, by one worker. */
struct wr_shared *wr_units_early(struct wr_units *x, const struct wr_read *r);
/* The read has had its bytes. */
void wr_unit_leave(struct wr_read *r);

/* --- loading --- */

enum wr_unit_next {
    WR_NEXT_IDLE, /* nothing to do: another has it, or reads are on their way */
    WR_NEXT_ASK,  /* submit what wr_unit_ask gives */
    WR_NEXT_FEED, /* wr_unit_feed is to be called; it takes long */
    WR_NEXT_LOADED, /* wr_unit_loaded */
    WR_NEXT_FAILED, /* wr_unit_failed */
    WR_NEXT_AGAIN,  /* wr_unit_restart: the first try failed, or was short of
                       resources (wr_unit_why) */
};

/* The first step; `object` (borrowed) is the unit's, or NULL. */
enum wr_unit_next wr_unit_begin(struct wr_shared *u, struct wr_object *object);
const char *wr_unit_path(const struct wr_shared *u);
/* The next piece to read; NULL: none now. */
struct wr_unit_piece *wr_unit_ask(struct wr_shared *u);
/* A piece came back; the unit's next step. */
enum wr_unit_next wr_unit_came(struct wr_unit_piece *p);
/* Should it be read again, as it failed for the first time? */
bool wr_unit_retries(struct wr_unit_piece *p);
/* Feeds the next piece to the filters. */
void wr_unit_feed(struct wr_shared *u);
/* What is next, after a step was done. */
enum wr_unit_next wr_unit_next(struct wr_shared *u);
void wr_unit_restart(struct wr_shared *u);
/* Why it failed. */
void wr_unit_why(const struct wr_shared *u, weir_err *ret);
/* The read that waits for it and is wanted first; NULL: none does yet. */
const struct wr_task *wr_unit_first(struct wr_shared *u);

/* The unit is loaded: hands over the reads that waited for it, linked by
 * next_waiting, with their bytes. */
struct wr_read *wr_unit_loaded(struct wr_shared *u);
/* It could not be: hands them over without; they have left it. */
struct wr_read *wr_unit_failed(struct wr_shared *u);

/* --- between unit.c, unit_load.c and unit_memory.c, with the lock held --- */

#define WR_BLOCK_MAX ((uint64_t)4 << 20) /* bytes of one request for a block */
#define WR_UNIT_STEP ((size_t)256 << 10) /* memory comes in multiples of this */
/* Stored bytes of one piece: its memory is a step, direct reads included. */
#define WR_UNIT_PIECE (WR_UNIT_STEP - 2 * (size_t)WR_DIRECT_ALIGN)

/* Memory aligned for direct reads, counted for the unit's group; NULL: none. */
uint8_t *wr_unit_take(struct wr_shared *u, size_t need, size_t *ret_cap);
void wr_unit_give(struct wr_shared *u, uint8_t *buf, size_t cap);
/* Memory for one piece, WR_UNIT_STEP bytes. A unit needs that of one. Those
 * ahead of it are as few for all units together as keep the filters fed, and
 * are granted where there is memory: memory that is touched first is slow, and
 * units far from their turn would have most of it. */
bool wr_piece_has_ahead(const struct wr_units *x);
uint8_t *wr_piece_take(struct wr_units *x, bool ahead);
void wr_piece_give(struct wr_units *x, uint8_t *buf, bool ahead);
/* Somebody asked for the unit that is loaded early, or it needs to be kept no
 * longer. */
void wr_unit_end_early(struct wr_shared *u);
void wr_units_drop_spare(struct wr_units *x);
/* Room for `cap` more bytes beside it; drops what nobody uses. */
bool wr_unit_make_room(struct wr_shared *u, size_t cap);
/* Gives back all memory that it has. */
void wr_unit_empty(struct wr_shared *u);
/* Points a read to its bytes. */
void wr_unit_point(struct wr_read *r);
/* Empties it, and its group, when nobody uses it and nobody will ask. */
void wr_unit_drop_if_over(struct wr_shared *u);
/* Memory and what else it takes to load it; false: not now. */
bool wr_load_new(struct wr_shared *u, const char *path, bool must);
void wr_load_free(struct wr_shared *u);

#endif
