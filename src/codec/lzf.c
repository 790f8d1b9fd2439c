/* lzf.c - LibLZF's format, as h5py packs chunks.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A control byte below 32: so many bytes and one more follow as they are. Else
 * its upper three bits are a length (7: the next byte is added), and its lower
 * five with the byte behind them how far back the same bytes lie. */
#include "codec/lzf.h"

#include <stdint.h>
#include <string.h>

/* Bytes that may overlap those they are copied from. */
static void copy_back(uint8_t *to, size_t back, size_t n)
{
    const uint8_t *from = to - back;

    if (back >= n) {
        memcpy(to, from, n);
        return;
    }
    for (size_t k = 0; k < n; k++)
        to[k] = from[k];
}

bool wr_lzf_undo(const void *bytes, size_t len, void *to, size_t want,
                 size_t *ret_at)
{
    const uint8_t *in = bytes;
    uint8_t *out = to;
    size_t at = 0, made = 0;

    while (at < len) {
        size_t control = in[at], n = control >> 5, back;

        *ret_at = at++;
        if (control < 32) {
            n = control + 1;
            if (n > len - at || n > want - made)
                return false;
            memcpy(out + made, in + at, n);
            at += n;
        } else {
            if (n == 7)
                n += at < len ? in[at++] : 0;
            n += 2;
            if (at == len)
                return false;
            back = ((control & 31) << 8 | in[at++]) + 1;
            if (back > made || n > want - made)
                return false;
            copy_back(out + made, back, n);
        }
        made += n;
    }
    *ret_at = at;
    return made == want;
}
