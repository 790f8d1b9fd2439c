/* turns.h - machines that take turns on one slow tier, and what they were told.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each node has a path for its fast tier and two folders that may be mounted
 * there; all have one slow tier. The model counts openings and saves by itself,
 * in the order of its calls: what it says is newer is so, whatever clocks and
 * manifests say. What a backup or lost dot files take away from a tier they
 * take from what the model lets that tier know, too. A save is known by its
 * salt, which is in every number of its tensor and in its metadata. */
#ifndef CKPT_TURNS_H
#define CKPT_TURNS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "weir/ckpt_manage.h"

#define TURNS_NODES   3
#define TURNS_FOLDERS (2 * TURNS_NODES)
#define TURNS_NOWHERE TURNS_FOLDERS /* in place of a folder */
#define TURNS_SAVES   120
#define TURNS_STEPS   60 /* steps are below */
#define TURNS_FLOATS  40
#define TURNS_PATH    200
#define TURNS_WORDS   4 /* of a set of openings; more are not noted */

/* A save that was tried; its salt is its place in the list. */
struct turns_save {
    uint64_t step;
    uint64_t generation;   /* as counted; 0: of an earlier version */
    unsigned opening;      /* by which store it was saved; 0: as above */
    unsigned store;        /* its number; 0: as above */
    unsigned from;         /* the save that it continues; TURNS_SAVES: none */
    enum weir_level level; /* acknowledged; 0: nothing was */
    unsigned folder;       /* of a fast tier; TURNS_NOWHERE */
    bool drained;          /* was on the slow tier */
    bool may_go;           /* somebody or something decided so */
    bool pinned;
    bool stale; /* was so when its folder got another writer */
};

/* What was found in a folder. */
struct turns_seen {
    unsigned count;
    struct {
        unsigned salt;
        bool aside;
    } copies[TURNS_SAVES];
};

struct turns_node {
    char fast[TURNS_PATH]; /* where its fast tier is */
    char off[TURNS_PATH];  /* the folder that is not mounted */
    unsigned folder;       /* the one that is */
    int64_t skew_s;        /* of its clock */
    weir_ckpt *c;          /* open for saving; NULL */
    bool drains, hangs;    /* that: its drain; its slow tier may hang */
    uint64_t generation;   /* of that */
    unsigned opening;      /* that */
    bool fenced;           /* it was told so */
    bool based;            /* it is known what it continues: */
    unsigned from;         /* a save; TURNS_SAVES: nothing */
    uint64_t claims;       /* as there were then */
    uint64_t next;         /* step */
};

/* What a tier knows of its store. */
struct turns_folder {
    uint64_t generation; /* of its last writer; of the slow tier the highest */
    unsigned opening;    /* of that writer */
    unsigned store;      /* its number; 0: new, or of an earlier version */
    bool unsure;         /* an opening that gave up may be its last writer */
    bool notes;          /* which openings it knows: */
    uint64_t known[TURNS_WORDS];
};

/* Lives in memory that is shared with children, who take turns too. */
struct turns {
    struct wr_rng rng;
    char dir[100], slow[TURNS_PATH], away[TURNS_PATH], hung[TURNS_PATH];
    char backup[TURNS_PATH]; /* of the slow tier */
    struct turns_node nodes[TURNS_NODES];
    struct turns_folder folders[TURNS_FOLDERS];
    struct turns_folder far, far_then; /* the slow tier; its backup */
    bool has_backup;
    bool ends;         /* each store can be opened now */
    unsigned mishaps;  /* dot files were lost, a backup was restored */
    unsigned openings; /* for saving, so far; the number of each: */
    uint64_t numbers[64 * TURNS_WORDS];
    unsigned stores;   /* so far */
    unsigned restored; /* the save that was restored last */
    uint64_t claims;   /* of any kind, that write to the slow tier */
    bool has_store;    /* the slow tier is one */
    bool is_away;      /* it is not mounted: is at `away` */
    bool is_hung;
    unsigned left_behind; /* stores that were closed and may not be at once */
    unsigned keep_last;   /* of all runs; 0: all steps */
    unsigned keep_now;    /* of a call of prune; 0: none */
    bool adopts;          /* stale copies may be drained now */
    unsigned count;
    struct turns_save saves[TURNS_SAVES];
    struct turns_seen on_slow, on[TURNS_FOLDERS];
    uint64_t newest; /* generation that the slow tier had */
    size_t log_len;
    char log[24000]; /* what was done */
    char why[900];   /* what is wrong; "": nothing */
};

/* --- turns_model.c --- */

/* A line of the log. */
void turns_say(struct turns *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The first trouble counts. Returns false. */
bool turns_fail(struct turns *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A new save by what `by` is; TURNS_SAVES when there is no room for more. */
unsigned turns_new_save(struct turns *w, uint64_t step, struct turns_folder by,
                        unsigned folder);
/* a was saved later than b, as counted; neither of two openings that got the
 * same number. */
bool turns_is_newer(const struct turns *w, unsigned a, unsigned b);

/* Looks into all folders. */
void turns_look(struct turns *w);
bool turns_has(const struct turns_seen *s, unsigned salt);
/* The same for a step, not for what was set aside. */
bool turns_shows(const struct turns_seen *s, unsigned salt);
/* The save of a step, not set aside; TURNS_SAVES: none. */
unsigned turns_find(const struct turns *w, const struct turns_seen *s,
                    uint64_t step);
/* The slow tier has steps of a later writer than the folder's last one, or its
 * last step is of a writer that the folder has not heard of: it was restored
 * from a backup, and others went on. */
bool turns_is_stale(const struct turns *w, unsigned folder);
/* A copy in that folder is for somebody to decide about. */
bool turns_is_stale_copy(const struct turns *w, unsigned folder, unsigned salt);
/* The newest that can be seen through a folder (TURNS_NOWHERE: the slow tier
 * alone), of a step or (WEIR_LATEST) of all; TURNS_SAVES: none. */
unsigned turns_newest(const struct turns *w, unsigned folder, uint64_t step);

/* The folder's tier is of another store than the slow one. */
bool turns_is_foreign(const struct turns *w, unsigned folder);
/* The highest generation that the slow tier knows, and the folder. */
uint64_t turns_highest(const struct turns *w);
uint64_t turns_remembers(const struct turns *w, unsigned folder);
/* The slow tier is older than the folder remembers: that must be told. */
bool turns_is_rolled(const struct turns *w, unsigned folder);
/* And the folder has nothing of its last writer: somebody has to decide. */
bool turns_is_lost(const struct turns *w, unsigned folder);
/* The folder has a new writer: this opening. */
void turns_begin_writer(struct turns *w, unsigned folder);

/* Some store drains in the background. */
bool turns_is_drained_now(const struct turns *w);
/* Looks, and compares with what was acknowledged. */
bool turns_check_copies(struct turns *w);

/* --- turns_view.c --- */

void turns_tensor(float *memory, weir_tensor *ret);
void turns_fill(float *memory, unsigned salt);
/* Restores through an open store, and compares with what is there. */
bool turns_check_restore(struct turns *w, weir_ckpt *c, unsigned folder,
                         uint64_t step);
/* The same through the tiers of a node (TURNS_NODES: the slow one alone);
 * `deep`: every step. */
bool turns_check_view(struct turns *w, unsigned node, bool deep);

/* --- turns_mishap.c --- */

/* Dot files of a tier are lost: all, or one of them. */
void turns_lose_dots(struct turns *w, unsigned node);
/* The slow tier is backed up; it becomes what it was then. */
void turns_back_up(struct turns *w, unsigned node);
void turns_roll_back(struct turns *w, unsigned node);
/* Makes a tier what the version before would have made. */
void turns_make_old(struct turns *w, const char *dir);
/* Decisions that are only looked at. */
void turns_dry_run(struct turns *w, unsigned node);
/* The id of the slow tier's store; false: it has none. */
bool turns_store_id(const struct turns *w, char ret[33]);

/* --- turns_ops.c --- */

/* A node saves; it opens its store where that is closed. */
void turns_save(struct turns *w, unsigned node);

/* One operation, drawn at random. */
void turns_step(struct turns *w);
/* What a scenario starts with. */
void turns_begin(struct turns *w);
/* All is mounted, answers, and is closed. */
void turns_end(struct turns *w);

/* --- turns_decide.c --- */

/* What became of a drain in the background may be told by any call. */
bool turns_is_news(const struct turns *w, const struct turns_node *nd,
                   const weir_err *err);
/* A refusal to open is fine where it is; else it is trouble. */
bool turns_judge(struct turns *w, unsigned node, const weir_ckpt_config *cfg,
                 const weir_err *err);
/* The configuration of a node's store. */
void turns_config(struct turns *w, unsigned node, weir_ckpt_config *ret);
/* What somebody decides. False: it was refused, as it should be, or there is
 * trouble. */
bool turns_adopt(struct turns *w, unsigned node);
bool turns_discard(struct turns *w, unsigned node);
bool turns_remove(struct turns *w, unsigned node, uint64_t step,
                  const char *tier);
/* Drains by a process of its own, and resolves what is refused. */
bool turns_drain(struct turns *w, unsigned node);
/* Closes all stores. */
void turns_close_all(struct turns *w);
void turns_close(struct turns *w, unsigned node);

/* Whether tiers may be in use. */
bool turns_is_busy(const struct turns *w);

#endif
