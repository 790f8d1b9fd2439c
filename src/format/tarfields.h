/* tarfields.h - the fields and labels of a tar archive's samples.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_TARFIELDS_H
#define WR_FORMAT_TARFIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "format/format.h"
#include "format/shards.h"
#include "format/tarmember.h"
#include "weir/error.h"

/* --- what a member of an archive is to its sample, and labels --- */

#define WR_TAR_MAX_LABEL 65536u /* bytes of a member that holds a label */

/* In each kind, the later one is the better one of two. */
enum wr_tar_part {
    WR_TAR_NO_PART,
    WR_TAR_VIEW,       /* left.jpg: one of several pictures, maybe */
    WR_TAR_PICTURE,    /* jpg, png and what other pictures end in */
    WR_TAR_ID,         /* id: perhaps a number */
    WR_TAR_JSON,       /* json: perhaps with a label in it */
    WR_TAR_LABEL_TEXT, /* cls, cls.txt, label: a number */
};

/* What stands behind the first dot of a name's basename; NULL: the member is no
 * sample's (README, .hidden). What is in front of the dot is its key. */
const char *wr_tar_ending(const char *name);

/* `ext`: what stands behind the first dot of a member's basename. *ret_bit is
 * another bit for each ending that a sample has once; else 0. */
enum wr_tar_part wr_tar_part_of(const char *ext, unsigned *ret_bit);

/* The label in the bytes of an ID, JSON or LABEL_TEXT member; WEIR_NO_LABEL for
 * -1, and for an id or JSON that has none. `bytes` need no NUL behind them. */
int wr_tar_label_parse(enum wr_tar_part part, const char *bytes, size_t len,
                       uint32_t *ret, weir_err *err);

/* --- the fields of a tar archive's samples: one for each ending --- */

/* docs/formats/tar.md says which ending becomes what. Fields are known before
 * the archives are scanned, from a look at their first samples; only the
 * dimensions of arrays may come to vary. */

#define WR_TAR_MAX_FIELDS 32u

struct wr_tar_fields {
    struct wr_field list[WR_TAR_MAX_FIELDS]; /* field k lies in column k */
    unsigned count;
    bool image;    /* field 0 is the one picture of each sample, whatever its
                      ending */
    bool pictures; /* some are pictures */
    bool arrays;   /* some are tensors */
};

/* Looks at the first samples of some of the archives of `l`; those that have
 * none give the field "image" alone. */
int wr_tar_look(struct wr_index_job *job, const struct wr_listing *l,
                struct wr_tar_fields *ret, weir_err *err);

/* The field that a member with this ending belongs to, or WR_NO_COLUMN. */
unsigned wr_tar_fields_find(const struct wr_tar_fields *f, const char *ext,
                            enum wr_tar_part part);

/* Is the ending a name that a field can have? */
bool wr_tar_is_field_name(const char *ext);

/* --- members that are .npy files --- */

struct wr_tar_array {
    struct wr_field field;   /* type, dimensions and order */
    uint64_t offset, length; /* of its elements, in the stream */
};

/* Reads the header at the beginning of member `m`. 1: done; 0: the member is of
 * no use, and *ret_flaw says why; negative: the end of the archive. */
int wr_tar_array_read(struct wr_tar_walk *w, const struct wr_tar_member *m,
                      struct wr_tar_array *ret, weir_err *ret_flaw,
                      weir_err *err);

/* May an array like `x` be one of field `f`? Its dimensions may be others. */
int wr_tar_array_check(const struct wr_field *f, const struct wr_field *x,
                       weir_err *err);

/* --- dimensions that vary --- */

/* An array with other dimensions than its field has; all 0: it is not there. */
struct wr_tar_odd {
    uint64_t sample; /* of its archive */
    unsigned column;
    bool absent;
    uint64_t dims[7];
};

/* What the scan of one archive leaves; zeroed memory is nothing. */
struct wr_tar_odds {
    uint64_t samples;
    struct wr_tar_odd *list; /* owned */
    size_t count, cap;
};

/* Adds the fields to the index, which has all samples, and what varies of their
 * dimensions; `odds` are those of all archives in their order. */
int wr_tar_fields_add(struct wr_tar_fields *f, struct wr_index *ix,
                      const struct wr_tar_odds *odds, size_t archives,
                      weir_err *err);

#endif
