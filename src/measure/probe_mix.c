/* probe_mix.c - sizes of requests and their shares.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/probe_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"

#define SECTOR 512u

void wr_probe_mix_imagenet(struct wr_probe_mix *ret)
{
    /* The study counted files by powers of two: those of "64 KB" have 64 to
     * 128. The middle of each bin gives ImageNet's own mean, 115 KB. */
    static const struct {
        unsigned from_kib, percent;
    } bins[] = {{2, 1},   {4, 2},   {8, 4},    {16, 8},
                {32, 13}, {64, 38}, {128, 33}, {256, 1}};

    *ret = (struct wr_probe_mix){.name = "imagenet",
                                 .count = WR_ARRAY_LEN(bins)};
    for (size_t i = 0; i < WR_ARRAY_LEN(bins); i++) {
        ret->part[i].bytes = (uint64_t)bins[i].from_kib * 3 / 2 << 10;
        ret->part[i].share = bins[i].percent / 100.0;
    }
}

/* The last part of a URL, without slashes at its end. */
static void name_after(char *buf, size_t cap, const char *url)
{
    size_t len = strlen(url);
    const char *p;

    while (len > 1 && url[len - 1] == '/')
        len--;
    p = memrchr(url, '/', len > 1 ? len - 1 : len);
    p = p && p + 1 < url + len ? p + 1 : url;
    snprintf(buf, cap, "%.*s", (int)(url + len - p), p);
}

int wr_probe_mix_of(const weir_dataset *ds, struct wr_probe_mix *ret,
                    weir_err *err)
{
    uint64_t count[WR_PROBE_MIX_MAX] = {0}, sum[WR_PROBE_MIX_MAX] = {0};
    uint64_t n = wr_index_count(ds->index);
    struct wr_probe_mix mix = {0};
    struct wr_part place;

    if (!n)
        return wr_fail(err, WEIR_EINVAL, "'%s': no samples", ds->url);
    for (uint64_t i = 0; i < n; i++) {
        unsigned bin;

        wr_index_part(ds->index, 0, i, &place);
        bin = place.length ? 63 - (unsigned)__builtin_clzll(place.length) : 0;
        count[bin]++;
        sum[bin] += place.length;
    }
    name_after(mix.name, sizeof(mix.name), ds->url);
    for (unsigned b = 0; b < WR_PROBE_MIX_MAX; b++) {
        uint64_t mean;

        if (!count[b])
            continue;
        mean = WR_ALIGN_UP(sum[b] / count[b], (uint64_t)SECTOR);
        mean = WR_MAX(mean, (uint64_t)SECTOR);
        /* Small bins all round up to the same size. */
        if (!mix.count || mix.part[mix.count - 1].bytes != mean)
            mix.part[mix.count++].bytes = mean;
        mix.part[mix.count - 1].share += (double)count[b] / (double)n;
    }
    *ret = mix;
    return 0;
}

uint64_t wr_probe_mix_pick(const struct wr_probe_mix *mix, uint64_t dice)
{
    double at = (double)(dice >> 11) * 0x1.0p-53;
    size_t i = 0;

    while (i + 1 < mix->count && at >= mix->part[i].share)
        at -= mix->part[i++].share;
    return mix->part[i].bytes;
}

uint64_t wr_probe_mix_max(const struct wr_probe_mix *mix)
{
    uint64_t max = 0;

    for (size_t i = 0; i < mix->count; i++)
        max = WR_MAX(max, mix->part[i].bytes);
    return max;
}

/* How many of `count` things each part gets: whole ones first, then those with
 * the largest remainders get one more. */
static void share_out(const struct wr_probe_mix *mix, unsigned count,
                      unsigned *ret)
{
    double rest[WR_PROBE_MIX_MAX];
    unsigned given = 0;

    for (size_t i = 0; i < mix->count; i++) {
        double exact = mix->part[i].share * count;

        ret[i] = (unsigned)WR_MIN(exact, (double)(count - given));
        rest[i] = exact - ret[i];
        given += ret[i];
    }
    for (; given < count; given++) {
        size_t best = 0;

        for (size_t i = 1; i < mix->count; i++)
            if (rest[i] > rest[best])
                best = i;
        ret[best]++;
        rest[best] -= 1;
    }
}

uint64_t *wr_probe_mix_sizes(const struct wr_probe_mix *mix, unsigned count,
                             uint64_t seed)
{
    uint64_t *sizes = calloc(count ? count : 1, sizeof(*sizes));
    unsigned quota[WR_PROBE_MIX_MAX] = {0};
    struct wr_perm perm;
    unsigned k = 0;

    if (!sizes)
        return NULL;
    share_out(mix, count, quota);
    wr_perm_init(&perm, count, seed, 0);
    for (size_t i = 0; i < mix->count; i++)
        for (unsigned j = 0; j < quota[i]; j++)
            sizes[wr_perm_at(&perm, k++)] = mix->part[i].bytes;
    return sizes;
}
