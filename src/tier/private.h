/* private.h - what the parts of a tier share.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Paths are from the tier's root, "" is the root. Messages name the whole path:
 * "'/fast/step-000000000007/MANIFEST': ...". */
#ifndef WR_TIER_PRIVATE_H
#define WR_TIER_PRIVATE_H

#include "tier/name.h"
#include "tier/tier.h"

/* --- io.c: the storage table, with messages that name the tier --- */

/* Fills err from `why`, an error of the store about `path`; returns its code. */
int wr_tier_told(const struct wr_tier *t, const char *path, const weir_err *why,
                 weir_err *err);
/* 0 when `r` is, or when what was looked for is not there (any more); else hands
 * `why` on. */
int wr_tier_unless_gone(int r, const weir_err *why, weir_err *err);
int wr_tier_stat(struct wr_tier *t, const char *path, struct wr_stat *ret,
                 weir_err *err);
int wr_tier_change(struct wr_tier *t, enum wr_change what, const char *path,
                   const char *to, weir_err *err);
/* A file, a link or an empty folder; one that is not there is no error. */
int wr_tier_remove(struct wr_tier *t, const char *path, weir_err *err);
/* The content of a small file, NUL-terminated; free(). */
int wr_tier_slurp(struct wr_tier *t, const char *path, size_t limit, char **ret,
                  size_t *ret_len, weir_err *err);
/* Makes a new file of this content, synced; its entry is not. */
int wr_tier_put(struct wr_tier *t, const char *path, const char *text,
                size_t len, weir_err *err);
/* Makes or replaces a file in WR_NAME_OWN, durably and at once: readers and
 * power cuts find the old content or the new one. A writer that was taken over
 * from replaces nothing. */
int wr_tier_replace(struct wr_tier *t, const char *path, const char *text,
                    weir_err *err);

/* What a folder holds. */
struct wr_tier_entries {
    struct wr_tier_entry {
        char *name; /* owned */
        enum wr_kind kind;
        uint64_t size;
        uint64_t step; /* of wr_tier_folders */
    } * all;           /* owned */
    size_t count, cap;
};

/* Zeroed before; done takes it in any case. */
int wr_tier_entries_read(struct wr_tier *t, const char *path,
                         struct wr_tier_entries *ret, weir_err *err);
/* The same: the folders in the root that have a name of one kind; in the folder
 * `work` of a writer. */
int wr_tier_folders(struct wr_tier *t, enum wr_name kind,
                    struct wr_tier_entries *ret, weir_err *err);
int wr_tier_work_folders(struct wr_tier *t, const char *work, enum wr_name kind,
                         struct wr_tier_entries *ret, weir_err *err);
void wr_tier_entries_done(struct wr_tier_entries *e);

/* --- tier.c --- */

/* The manifest of a step in the folder `dir`; its files are not looked at. */
int wr_tier_manifest_in(struct wr_tier *t, const char *dir, uint64_t step,
                        struct wr_manifest *ret, weir_err *err);

/* Whether a shard is there with its size, in the folder `dir`. WEIR_ENOENT: it
 * is missing; WEIR_EDAMAGED. */
int wr_tier_check_shard(struct wr_tier *t, const char *dir,
                        const struct wr_st_shard *s, weir_err *err);

/* --- claim.c --- */

/* The folder of all that is no step, durably. */
int wr_tier_make_own(struct wr_tier *t, weir_err *err);
/* The folder of the tier's writer: this one's, or the one that it stands by, or
 * that of whoever has the tier. "": there is none. */
int wr_tier_find_work(struct wr_tier *t, char ret[WR_TIER_PATH], weir_err *err);

/* --- left.c --- */

/* Empties `.writer-NUMBER` of an earlier writer, which may be adding to it still,
 * and removes it: from then on nothing gets out of it or into it. */
int wr_tier_dissolve(struct wr_tier *t, const char *outer, weir_err *err);
/* What writers before this one did not finish is finished or taken away;
 * *swept counts what was taken. */
int wr_tier_sweep(struct wr_tier *t, uint64_t *swept, weir_err *err);

/* --- step.c --- */

/* Takes off a mark of a step that was taken away. It goes by the folder of the
 * writer: what others have set since that was dissolved stays. */
int wr_tier_drop_mark(struct wr_tier *t, enum wr_mark kind, uint64_t step,
                      weir_err *err);

/* --- remove.c --- */

/* One slot-*. */
struct wr_slot {
    char name[WR_TIER_PATH];
    uint64_t bytes;
};

/* All slots, the largest first; free(). One that another process takes
 * meanwhile may be missing. */
int wr_tier_slots(struct wr_tier *t, struct wr_slot **ret, size_t *ret_count,
                  weir_err *err);
/* Removes slots[from ... count), durably renamed first. */
int wr_tier_drop_slots(struct wr_tier *t, const struct wr_slot *slots,
                       size_t from, size_t count, weir_err *err);

/* Taking a folder away has three steps, in this order: it is renamed to
 * trash-*, so that nobody else finds it any more; the root is synced, so that
 * no power cut brings back the name of a step whose files are gone already; its
 * files are removed. A folder that another process was faster with is no error.
 */
int wr_tier_to_trash(struct wr_tier *t, const char *name,
                     char ret_trash[WR_TIER_PATH], weir_err *err);
/* All that can be removed, and then the first error. What is left is tried again
 * before the next save, and by the next claim: who took a folder away has done
 * so when its name is gone, durably, and does not fail because a reader on NFS
 * holds a file of it. */
int wr_tier_remove_folder(struct wr_tier *t, const char *name, weir_err *err);
/* Removes trash-*, as far as that can be done, behind a sync of the root
 * (`always`: which is done also when there is none). Adds to *swept. */
int wr_tier_empty_trash(struct wr_tier *t, bool always, uint64_t *swept,
                        weir_err *err);
/* Removes an entry of a folder, whatever its name. A folder in it that is not
 * empty is not weir's, and an error. */
int wr_tier_remove_in(struct wr_tier *t, const char *dir, const char *leaf,
                      weir_err *err);

/* Where a step went. */
struct wr_displaced {
    char name[WR_TIER_PATH]; /* "": there was none of weir's */
    bool recycled;           /* it is a slot now, else trash */
};

/* Renames a step away, to a slot if `recycled` and there are few, else to the
 * trash; not durably yet. */
int wr_tier_displace(struct wr_tier *t, uint64_t step, bool recycled,
                     struct wr_displaced *ret, weir_err *err);
/* The same for a folder of the writer's own, at best: it stays where it is when
 * that fails, for the next claim. */
void wr_tier_set_down(struct wr_tier *t, const char *dir,
                      struct wr_displaced *ret);

#endif
