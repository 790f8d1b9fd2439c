/* config.c - what a checkpoint store may be asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"

#define WORLD_MAX     100000u /* a rank has five digits in a file's name */
#define SNAPSHOTS_MAX 64u
#define THREADS_MAX   1024u
#define RESERVE_MAX   ((uint64_t)1 << 48)

void weir_ckpt_defaults_sized(weir_ckpt_config *cfg, size_t size)
{
    const weir_ckpt_config own = {
        .size = size,
        .role = WEIR_CKPT_SAVE,
        .drain = 1,
        .verify = 1,
        .keep_last = 5,
        .keep_fast = 1,
        .behind = WEIR_BEHIND_BLOCK,
        .max_behind = 2,
        .world = 1,
        .drain_timeout_ms = 60000,
        .comm_timeout_ms = 60000,
        .close_timeout_ms = 30000,
        .keep_abandoned = 1,
    };

    wr_sized_give(cfg, size, &own, sizeof(own));
}

static int check_ranks(const weir_ckpt_config *cfg, weir_err *err)
{
    if (cfg->world == 0 || cfg->world > WORLD_MAX)
        return wr_fail(err, WEIR_EINVAL, "world: %" PRIu32 " is not 1 to %u",
                       cfg->world, WORLD_MAX);
    if (cfg->rank >= cfg->world)
        return wr_fail(err, WEIR_EINVAL,
                       "rank: %" PRIu32 " is not below world, %" PRIu32,
                       cfg->rank, cfg->world);
    if (cfg->world == 1)
        return 0;
    if (!cfg->comm)
        return wr_fail(err, WEIR_EINVAL, "comm: %" PRIu32 " ranks need one",
                       cfg->world);
    if (cfg->comm_timeout_ms == 0)
        return wr_fail(err, WEIR_EINVAL, "comm_timeout_ms: is 0");
    if (cfg->behind == WEIR_BEHIND_LATEST)
        return wr_fail(err, WEIR_ENOTSUP,
                       "behind: the latest wins for one rank only");
    return 0;
}

static int check_flags(const weir_ckpt_config *cfg, weir_err *err)
{
    const struct {
        const char *name;
        int value;
    } flags[] = {
        {"drain", cfg->drain},         {"verify", cfg->verify},
        {"take_over", cfg->take_over}, {"must_exist", cfg->must_exist},
        {"dry_run", cfg->dry_run},
    };

    for (size_t i = 0; i < WR_ARRAY_LEN(flags); i++)
        if (flags[i].value != 0 && flags[i].value != 1)
            return wr_fail(err, WEIR_EINVAL, "%s: %d is not 0 or 1",
                           flags[i].name, flags[i].value);
    return 0;
}

static int check_numbers(const weir_ckpt_config *cfg, weir_err *err)
{
    const struct {
        const char *name;
        uint64_t value, min, max;
    } ranges[] = {
        {"role", cfg->role, WEIR_CKPT_SAVE, WEIR_CKPT_ADOPT},
        {"behind", cfg->behind, WEIR_BEHIND_BLOCK, WEIR_BEHIND_OLDEST},
        {"snapshots", cfg->snapshots, 0, SNAPSHOTS_MAX},
        {"threads", cfg->threads, 0, THREADS_MAX},
        {"reserve", cfg->reserve, 0, RESERVE_MAX},
    };

    for (size_t i = 0; i < WR_ARRAY_LEN(ranges); i++)
        if (ranges[i].value < ranges[i].min || ranges[i].value > ranges[i].max)
            return wr_fail(err, WEIR_EINVAL,
                           "%s: %" PRIu64 " is not %" PRIu64 " to %" PRIu64,
                           ranges[i].name, ranges[i].value, ranges[i].min,
                           ranges[i].max);
    return 0;
}

int wr_ckpt_config_check(const weir_ckpt_config *cfg, weir_err *err)
{
    int r;

    if (!cfg->fast || !cfg->fast[0])
        return wr_fail(err, WEIR_EINVAL, "fast: no folder is given");
    if (cfg->slow && !cfg->slow[0])
        return wr_fail(err, WEIR_EINVAL, "slow: no folder is given");
    r = check_numbers(cfg, err);
    if (r == 0)
        r = check_flags(cfg, err);
    if (r == 0)
        r = check_ranks(cfg, err);
    if (r == 0 && cfg->dry_run && cfg->role != WEIR_CKPT_MANAGE &&
        cfg->role != WEIR_CKPT_ADOPT)
        r = wr_fail(err, WEIR_EINVAL,
                    "dry_run: is for managing and adopting only");
    if (r == 0 && cfg->role == WEIR_CKPT_DRAIN && !cfg->slow)
        r = wr_fail(err, WEIR_EINVAL,
                    "slow: draining needs a folder to drain to");
    return r;
}

static bool copy_text(const char **text)
{
    if (*text)
        *text = strdup(*text);
    else
        return true;
    return *text != NULL;
}

int wr_ckpt_config_copy(const weir_ckpt_config *cfg, weir_ckpt_config *ret,
                        weir_err *err)
{
    bool ok;

    *ret = *cfg;
    ok = copy_text(&ret->fast);
    ok &= copy_text(&ret->slow);
    ok &= copy_text(&ret->comm);
    ok &= copy_text(&ret->store);
    if (ret->snapshots == 0)
        ret->snapshots = ret->behind == WEIR_BEHIND_LATEST ? 2 : 1;
    return ok ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
}

void wr_ckpt_config_done(weir_ckpt_config *cfg)
{
    free((void *)(uintptr_t)cfg->fast);
    free((void *)(uintptr_t)cfg->slow);
    free((void *)(uintptr_t)cfg->comm);
    free((void *)(uintptr_t)cfg->store);
    cfg->fast = cfg->slow = cfg->comm = cfg->store = NULL;
}
