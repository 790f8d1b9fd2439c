/* link.h - which store a tier belongs to, and the count of its writers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * `.weir/store` of a tier is one line: "last ID SUM" on the last tier of a store
 * (its only or its slow one), which has the store's id; "fast ID GENERATION SUM"
 * on a fast tier, which names the store that it belongs to and the generation of
 * the writer that used it last. SUM is the CRC32C of what is before its blank. A
 * tier of an earlier version has none.
 *
 * A generation is one opening for saving. The last tier hands them out: whoever
 * creates `.weir/generation-N` has N. That needs no lock, which belongs to who
 * drains, and works between machines. docs/decisions/0015-lineage.md */
#ifndef WR_TIER_LINK_H
#define WR_TIER_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "tier/tier.h"

enum wr_link_kind { WR_LINK_NONE, WR_LINK_LAST, WR_LINK_FAST };

struct wr_tier_link {
    enum wr_link_kind kind;
    char store[WR_MANIFEST_ID]; /* "" with NONE */
    uint64_t generation;        /* of a fast tier */
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
/* Makes a last tier's, where there is none; when another process is faster, its
 * id is the one. The id goes to *ret_id. */
int wr_tier_link_make(struct wr_tier *t, char ret_id[WR_MANIFEST_ID],
                      weir_err *err);

/* The highest generation that was handed out; 0: none. */
int wr_tier_generation(struct wr_tier *t, uint64_t *ret, weir_err *err);
/* Takes the next one above that and above `known`, durably; those before are
 * removed. */
int wr_tier_generation_take(struct wr_tier *t, uint64_t known, uint64_t *ret,
                            weir_err *err);

#endif
