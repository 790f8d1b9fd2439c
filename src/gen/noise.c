/* noise.c - random bytes as a function of where they stand.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Words of 32 bits are numbered, and a word is its number, mixed with the key by
 * two rounds of multiply and shift (as the hash Murmur3 ends). All of it is
 * arithmetic on vectors, which compilers turn into whatever SIMD there is. The
 * upper half of the number goes into the key, so that the bytes repeat
 * nowhere. */
#include "gen/noise.h"

#include <string.h>

#include "base/le.h"
#include "base/mem.h"
#include "base/rng.h"

#define STEP  64u                 /* bytes made at once */
#define WORDS (STEP / 4)          /* words in them */
#define TURN  (UINT64_C(1) << 34) /* bytes until the number of a word wraps */

typedef uint32_t words8 __attribute__((vector_size(32)));

/* What the words of one turn have in common. */
struct noise_run {
    uint32_t add, flip;
    uint32_t mask[2];
};

static uint32_t mask_of(enum weir_dtype dtype, unsigned odd)
{
    switch (dtype) {
    case WEIR_F32:
    case WEIR_C64:
        return UINT32_C(0xbfffffff); /* the upper bit of the exponent is 0 */
    case WEIR_F16:
    case WEIR_BF16:
        return UINT32_C(0xbfffbfff);
    case WEIR_F64:
        return odd ? UINT32_C(0xbfffffff) : UINT32_MAX;
    case WEIR_BOOL:
        return UINT32_C(0x01010101);
    default:
        return UINT32_MAX;
    }
}

void wr_noise_init(struct wr_noise *n, const struct wr_noise_place *place,
                   enum weir_dtype dtype, double compressible)
{
    n->key = wr_rng_at(place->seed, place->file, place->array);
    n->mask[0] = mask_of(dtype, 0);
    n->mask[1] = mask_of(dtype, 1);
    compressible = WR_MAX(0.0, WR_MIN(1.0, compressible));
    n->constant = (uint32_t)(compressible * WR_NOISE_BLOCK / 8) * 8;
}

/* `steps` times STEP bytes, the first word of which has number `word`. */
static inline __attribute__((always_inline)) void
fill_steps(const struct noise_run *run, uint32_t word, uint8_t *out,
           size_t steps)
{
    const words8 iota = {0, 1, 2, 3, 4, 5, 6, 7};
    const words8 even = {run->mask[0], run->mask[1], run->mask[0],
                         run->mask[1], run->mask[0], run->mask[1],
                         run->mask[0], run->mask[1]};
    words8 at = iota + word;

    for (size_t k = 0; k < 2 * steps; k++, at += 8, out += sizeof(words8)) {
        words8 x = at * UINT32_C(0x9e3779b1) + run->add;

        x ^= x >> 16;
        x *= UINT32_C(0x85ebca6b);
        x ^= (x >> 13) ^ run->flip;
        x *= UINT32_C(0xc2b2ae35);
        x ^= x >> 16;
        x &= even;
        memcpy(out, &x, sizeof(x));
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void
fill_avx2(const struct noise_run *run, uint32_t word, uint8_t *out,
          size_t steps)
{
    fill_steps(run, word, out, steps);
}
#endif

static void fill_any(const struct noise_run *run, uint32_t word, uint8_t *out,
                     size_t steps)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        fill_avx2(run, word, out, steps);
        return;
    }
#endif
    fill_steps(run, word, out, steps);
}

/* Words have the same bytes on every machine. */
static void to_little_endian(uint8_t *out, size_t len)
{
    for (size_t k = 0; htole16(1) != 1 && k < len; k += 4) {
        uint32_t v;

        memcpy(&v, out + k, 4);
        wr_le_put(out + k, v, 4);
    }
}

/* Noise without constant parts; both ends may be within a step. */
static void fill_plain(const struct wr_noise *n, uint64_t offset, uint8_t *out,
                       size_t len)
{
    while (len) {
        uint64_t key = wr_rng_at(n->key, 0, offset / TURN);
        struct noise_run run = {
            (uint32_t)key, (uint32_t)(key >> 32), {n->mask[0], n->mask[1]}};
        uint32_t word = (uint32_t)(offset % TURN / STEP) * WORDS;
        size_t skip = (size_t)(offset % STEP);
        size_t some = (size_t)WR_MIN((uint64_t)len, TURN - offset % TURN);

        if (skip || some < STEP) {
            uint8_t step[STEP];

            some = WR_MIN(some, STEP - skip);
            fill_any(&run, word, step, 1);
            to_little_endian(step, STEP);
            memcpy(out, step + skip, some);
        } else {
            some -= some % STEP;
            fill_any(&run, word, out, some / STEP);
            to_little_endian(out, some);
        }
        out += some;
        offset += some;
        len -= some;
    }
}

void wr_noise_fill(const struct wr_noise *n, uint64_t offset, void *out,
                   size_t len)
{
    uint8_t *to = out;

    if (!n->constant) {
        fill_plain(n, offset, to, len);
        return;
    }
    while (len) {
        uint32_t in = (uint32_t)(offset % WR_NOISE_BLOCK);
        uint32_t noisy = WR_NOISE_BLOCK - n->constant;
        size_t some;

        if (in < noisy) {
            some = WR_MIN(len, (size_t)(noisy - in));
            fill_plain(n, offset, to, some);
        } else {
            some = WR_MIN(len, (size_t)(WR_NOISE_BLOCK - in));
            memset(to, 0, some);
        }
        to += some;
        offset += some;
        len -= some;
    }
}
