/* classes.h - the names of the classes: the index's, or of classes.txt.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Records carry labels as numbers. The names lie beside the shards, one a line
 * in the order of the labels; so they survive from one form to the next. */
#ifndef WR_CONVERT_CLASSES_H
#define WR_CONVERT_CLASSES_H

#include "format/format.h"
#include "format/writer.h"

#define WR_CLASSES_FILE "classes.txt"

struct wr_classes {
    const struct wr_index *index; /* borrowed */
    char *text;                   /* owned; NULL: the index has the names */
    const char **lines;           /* owned; into `text`, "": none */
    uint32_t line_count;
    uint32_t count; /* classes; one more than the largest label met */
    bool sorted;    /* all have names that as folders have this order */
};

int wr_classes_init(struct wr_classes *c, const weir_dataset *ds,
                    weir_err *err);
void wr_classes_done(struct wr_classes *c);

/* A sample has this label: counts it in. */
void wr_classes_meet(struct wr_classes *c, uint32_t label);

/* The name of a label, or NULL. */
const char *wr_classes_name(const struct wr_classes *c, uint32_t label);

/* All of them as lines; nothing when there are none. free(bytes). */
int wr_classes_text(const struct wr_classes *c, struct wr_bytes *ret,
                    weir_err *err);

#endif
