/* link.h - which store a tier belongs to, and the count of its writers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * `.weir/store` of a tier is one line: "last ID SUM" on the last tier of a store
 * (its only or its slow one), which has the store's id; "fast ID GENERATION NONCE
 * SUM" on a fast tier, which names the store that it belongs to and the writer
 * that used it last (earlier versions wrote no nonce). SUM is the CRC32C of what
 * is before its blank. The file may be lost, copied or restored from a backup:
 * manifests know the same (lineage.c).
 *
 * A generation is one opening for saving. The last tier hands them out: whoever
 * creates `.weir/generations/generation-N` has N; its first word is the nonce.
 * That needs no lock, which belongs to who drains, and works between machines.
 * docs/decisions/0015-lineage.md */
#ifndef WR_TIER_LINK_H
#define WR_TIER_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "tier/tier.h"

enum wr_link_kind { WR_LINK_NONE, WR_LINK_LAST, WR_LINK_FAST };

struct wr_tier_link {
    enum wr_link_kind kind;
    char store[WR_MANIFEST_ID]; /* "" with NONE */
    uint64_t generation;        /* of a fast tier, as the next one */
    char nonce[WR_MANIFEST_ID]; /* "": not known */
};

#define WR_LINK_TEXT 256 /* bytes of the file, and a NUL, at most */

/* Whether `text` is such a line; fills *ret if so. */
bool wr_tier_link_parse(const char *text, struct wr_tier_link *ret);
void wr_tier_link_text(const struct wr_tier_link *link, char ret[WR_LINK_TEXT]);

/* No file is WR_LINK_NONE; one that makes no sense is WEIR_EDAMAGED. */
int wr_tier_link_read(struct wr_tier *t, struct wr_tier_link *ret,
                      weir_err *err);
/* Makes or replaces it, durably; for the tier's writer. */
int wr_tier_link_write(struct wr_tier *t, const struct wr_tier_link *link,
                       weir_err *err);
/* Makes a last tier's, where there is none, with the id *id, or a new one where
 * that is "". When another process is faster, its id is the one. The id goes to
 * *id, which is not "" on success. */
int wr_tier_link_make(struct wr_tier *t, char id[WR_MANIFEST_ID],
                      weir_err *err);
/* Makes one that was lost, at best; what is there meanwhile stays. */
void wr_tier_link_keep(struct wr_tier *t, const struct wr_tier_link *link);

/* The tier's own id, which is made where there is none. "": it cannot be made. */
void wr_tier_own_id(struct wr_tier *t, char ret[WR_MANIFEST_ID]);

/* What the writer of a tier does there, for others. */
struct wr_tier_work {
    char from[WR_MANIFEST_ID]; /* own id of the tier that is drained to here;
                                  "": not known */
    char text[200];            /* "process 7 of host, from '/nvme/run7'" */
    uint64_t done, bytes; /* copies made and read back so far, and bytes of the
                             one that it is at; 0 of an earlier version */
};

/* For the tier's writer, after its claim, and as it goes on; it does no harm when
 * it cannot. */
void wr_tier_work_tell(struct wr_tier *t, const struct wr_tier_work *w);
/* Of whoever is the writer now; all "" where that is not known. */
void wr_tier_work_ask(struct wr_tier *t, struct wr_tier_work *ret);

struct wr_generation {
    uint64_t number;
    char nonce[WR_MANIFEST_ID]; /* "": an earlier version's */
};

/* The highest one that was handed out; 0: none. */
int wr_tier_generation(struct wr_tier *t, struct wr_generation *ret,
                       weir_err *err);
/* Takes the next one above that and above `known`, durably, with this nonce;
 * those before are removed. `check` is called between looking and creating: a
 * writer that was taken over from must not get a higher number than who did. */
int wr_tier_generation_take(struct wr_tier *t, uint64_t known,
                            int (*check)(void *arg, weir_err *err), void *arg,
                            struct wr_generation *ret, weir_err *err);

#endif
