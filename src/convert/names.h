/* names.h - keys that are safe as paths, and no two alike.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CONVERT_NAMES_H
#define WR_CONVERT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "weir/error.h"

#define WR_CONVERT_KEY_MAX 1024 /* bytes of a key, its end included */

/* A key as a path below some folder: no empty parts, no "." and "..", no part
 * that begins with a dot, no control characters, at most 200 bytes a part. An
 * empty result means that nothing was left. Returns its length. */
size_t wr_convert_safe_key(const char *key, size_t len,
                           char buf[WR_CONVERT_KEY_MAX]);

/* A safe key without folders: "a/b" becomes "a_b". One that is too long for a
 * name ends in a hash of all of it, so that keys that differ still do. */
void wr_convert_flat_key(const char *key, char buf[WR_CONVERT_KEY_MAX]);

/* Names seen so far, by their hash: two that share one count as the same,
 * which costs a suffix and nothing else. Zeroed: empty. */
struct wr_convert_names {
    struct wr_map hashes;  /* of the key alone */
    uint32_t *suffix;      /* owned: by sample; NULL: no two are alike */
    uint64_t suffix_count; /* entries of suffix */
};

void wr_convert_names_done(struct wr_convert_names *n);

/* Takes the name of sample `id` of `count`; when it is taken already, a suffix
 * "_2", "_3", ... is chosen for it. */
int wr_convert_names_add(struct wr_convert_names *n, const char *name,
                         uint64_t id, uint64_t count, weir_err *err);

/* The suffix of a sample's name, or 0. */
uint32_t wr_convert_names_suffix(const struct wr_convert_names *n, uint64_t id);

/* Gives back what only adding needs. */
void wr_convert_names_seal(struct wr_convert_names *n);

#endif
