/* name.h - the names in a tier: all that weir makes, and nothing else.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What is taken away is chosen by these names, so they are read strictly: steps
 * are 12 decimal digits, ids 32 hexadecimal ones in lower case. */
#ifndef WR_TIER_NAME_H
#define WR_TIER_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "tier/tier.h"

#define WR_NAME_OWN   ".weir" /* the folder of all that is no step */
#define WR_NAME_LOCK  WR_NAME_OWN "/lock"
#define WR_NAME_EPOCH WR_NAME_OWN "/epoch"
#define WR_NAME_STORE WR_NAME_OWN "/store"

enum wr_name {
    WR_NAME_FOREIGN, /* not weir's: left alone */
    /* folders in a tier */
    WR_NAME_STEP,  /* step-STEP */
    WR_NAME_TMP,   /* .tmp-STEP-ID */
    WR_NAME_SLOT,  /* .slot-ID */
    WR_NAME_TRASH, /* .trash-ID */
    WR_NAME_STALE, /* .stale-STEP-ID */
    /* files in WR_NAME_OWN */
    WR_NAME_PIN,        /* pin-STEP */
    WR_NAME_VERIFIED,   /* verified-STEP */
    WR_NAME_DAMAGED,    /* damaged-STEP */
    WR_NAME_GENERATION, /* generation-N, in as many digits as a step */
    WR_NAME_NEW,        /* epoch.new-ID, pin-STEP.new-ID, ... */
};

/* What a name in a tier's root is; *ret_step is the step in it, where there is
 * one. */
enum wr_name wr_name_in_root(const char *name, uint64_t *ret_step);
/* The same in WR_NAME_OWN. */
enum wr_name wr_name_in_own(const char *name, uint64_t *ret_step);
/* Whether it is a shard's, "r00007.safetensors", and whose. */
bool wr_name_is_shard(const char *name, uint32_t *ret_rank);

/* Paths from the tier's root; ids are new ones. */
void wr_name_step(uint64_t step, char ret[WR_TIER_PATH]);
void wr_name_tmp(uint64_t step, char ret[WR_TIER_PATH]);
void wr_name_slot(char ret[WR_TIER_PATH]);
void wr_name_trash(char ret[WR_TIER_PATH]);
/* The id is that of the manifest in it. */
void wr_name_stale(uint64_t step, const char *id, char ret[WR_TIER_PATH]);
void wr_name_generation(uint64_t n, char ret[WR_TIER_PATH]);
void wr_name_mark(enum wr_mark kind, uint64_t step, char ret[WR_TIER_PATH]);
/* Beside `path`, which it will replace. */
void wr_name_new(const char *path, char ret[WR_TIER_PATH]);
/* "DIR/LEAF" */
void wr_name_join(const char *dir, const char *leaf, char ret[WR_TIER_PATH]);

#endif
