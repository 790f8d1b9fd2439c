/* talk.h - messages to and from weir.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A broken socket means that weir is gone: the helper ends. */
#ifndef WR_HDF5_TALK_H
#define WR_HDF5_TALK_H

#include <stdbool.h>
#include <stddef.h>

#include "hdf5/wire.h"

/* The next message; its payload is fresh memory with a NUL behind it. */
void h5_hear(struct wr_h5_head *ret, void **ret_payload);

void h5_say(enum wr_h5_kind kind, uint64_t number, uint64_t offset,
            const void *payload, size_t len);
void h5_error(const char *why);

/* Bytes of the file, from weir; false: it could not read them. */
bool h5_fetch(uint64_t offset, size_t len, void *buf);

#endif
