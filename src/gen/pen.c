/* pen.c - bytes and noise into an object, in large pieces.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/pen.h"

#include <string.h>

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "base/rng.h"

/* --- random bytes as a function of where they stand ---
 *
 * Words of 32 bits are numbered, and a word is its number, mixed with the key by
 * two rounds of multiply and shift (as the hash Murmur3 ends). All of it is
 * arithmetic on vectors, which compilers turn into whatever SIMD there is. The
 * upper half of the number goes into the key, so that the bytes repeat
 * nowhere. */

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

/* --- the pen --- */

void wr_pen_init(struct wr_pen *p, struct wr_object *o, uint8_t *buf)
{
    *p = (struct wr_pen){.object = o, .buf = buf};
}

uint64_t wr_pen_tell(const struct wr_pen *p)
{
    return p->at + p->len;
}

static void write_at(struct wr_pen *p, const void *bytes, size_t len,
                     uint64_t at)
{
    if (len && !p->failed.code)
        p->failed.code = wr_object_write(p->object, bytes, len, at, &p->failed);
}

/* What is in the buffer. */
static void write_piece(struct wr_pen *p)
{
    write_at(p, p->buf, p->len, p->at);
    p->at += p->len;
    p->len = 0;
}

int wr_pen_flush(struct wr_pen *p, weir_err *err)
{
    write_piece(p);
    return wr_fail_as(err, p->failed.code, &p->failed);
}

/* Pieces end at multiples of the buffer's size: whole pages, but at the ends. */
static size_t room(const struct wr_pen *p, uint64_t want)
{
    uint64_t left = WR_PEN_BYTES - (p->at + p->len) % WR_PEN_BYTES;

    return (size_t)WR_MIN(want, left);
}

/* Counts `n` bytes that were put behind len; a full piece is written. */
static void advance(struct wr_pen *p, size_t n)
{
    if (p->sum)
        p->crc = p->sum(p->crc, p->buf + p->len, n);
    p->len += n;
    if ((p->at + p->len) % WR_PEN_BYTES == 0)
        write_piece(p);
}

void wr_pen_put(struct wr_pen *p, const void *bytes, size_t len)
{
    const uint8_t *from = bytes;

    while (len && !p->failed.code) {
        size_t some = room(p, len);

        memcpy(p->buf + p->len, from, some);
        from += some;
        len -= some;
        advance(p, some);
    }
}

void wr_pen_zeros(struct wr_pen *p, uint64_t len)
{
    while (len && !p->failed.code) {
        size_t some = room(p, len);

        memset(p->buf + p->len, 0, some);
        len -= some;
        advance(p, some);
    }
}

void wr_pen_pad(struct wr_pen *p, uint64_t block)
{
    uint64_t over = wr_pen_tell(p) % block;

    wr_pen_zeros(p, over ? block - over : 0);
}

void wr_pen_noise(struct wr_pen *p, const struct wr_noise *n, uint64_t from,
                  uint64_t len)
{
    while (len && !p->failed.code) {
        size_t some = room(p, len);

        wr_noise_fill(n, from, p->buf + p->len, some);
        from += some;
        len -= some;
        advance(p, some);
    }
}

void wr_pen_skip(struct wr_pen *p, uint64_t len)
{
    write_piece(p);
    p->at += len;
}

void wr_pen_patch(struct wr_pen *p, uint64_t at, const void *bytes, size_t len)
{
    write_at(p, bytes, len, at);
}
