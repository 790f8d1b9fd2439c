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

#define WR_NAME_OWN     ".weir" /* the folder of all that is no step */
#define WR_NAME_LOCK    WR_NAME_OWN "/lock"
#define WR_NAME_EPOCH   WR_NAME_OWN "/epoch" /* of the version before */
#define WR_NAME_STORE   WR_NAME_OWN "/store"
#define WR_NAME_BENCHED WR_NAME_OWN "/benched" /* see measure/saves.h */
#define WR_NAME_TIER    WR_NAME_OWN "/tier" /* a random id: tells folders apart */
/* Apart from the marks, of which there may be many: it is listed often. */
#define WR_NAME_GENERATIONS WR_NAME_OWN "/generations"
#define WR_NAME_WRITERS     WR_NAME_OWN "/writers"

/* In a writer's folder: what it does; locked by one that has taken over. */
#define WR_NAME_WHO  "who"
#define WR_NAME_HELD "held"

enum wr_name {
    WR_NAME_FOREIGN, /* not weir's: left alone */
    /* folders in a tier */
    WR_NAME_STEP,   /* step-STEP */
    WR_NAME_STALE,  /* .stale-STEP-ID */
    WR_NAME_WRITER, /* .writer-NUMBER, in as many digits as a step; in it the
                       folder of the writer, ID */
    /* in a writer's folder; in the root, with a dot before, of the version
     * before */
    WR_NAME_TMP,     /* tmp-STEP-ID */
    WR_NAME_SLOT,    /* slot-ID */
    WR_NAME_TRASH,   /* trash-ID */
    WR_NAME_ASIDE,   /* aside-STEP-ID: on its way to .stale-STEP-ID */
    WR_NAME_LEAVING, /* leaving-STEP-ID: on its way out, unless it turns out to
                        be another save; a step again where that died */
    /* files in WR_NAME_OWN */
    WR_NAME_PIN,        /* pin-STEP */
    WR_NAME_VERIFIED,   /* verified-STEP */
    WR_NAME_DAMAGED,    /* damaged-STEP */
    WR_NAME_GENERATION, /* generation-N, in as many digits as a step */
    WR_NAME_BENCH,      /* benched: the next writer may be no benchmark */
    WR_NAME_NEW,        /* pin-STEP.new-ID, ...; in a writer's folder new-ID */
};

/* What a name in a tier's root is; *ret_step is the step in it, where there is
 * one. */
enum wr_name wr_name_in_root(const char *name, uint64_t *ret_step);
/* The same in WR_NAME_OWN, and in the folder of a writer. */
enum wr_name wr_name_in_own(const char *name, uint64_t *ret_step);
enum wr_name wr_name_in_work(const char *name, uint64_t *ret_step);
/* Whether it is a shard's, "r00007.safetensors", and whose. */
bool wr_name_is_shard(const char *name, uint32_t *ret_rank);

/* Paths from the tier's root; ids are new ones. */
void wr_name_step(uint64_t step, char ret[WR_TIER_PATH]);
void wr_name_writer(uint64_t number, char ret[WR_TIER_PATH]);
/* The folder of a new writer of that number. */
void wr_name_work(uint64_t number, char ret[WR_TIER_PATH]);
/* In the folder of a writer; "" is the root, as the version before had them. */
void wr_name_tmp(const char *work, uint64_t step, char ret[WR_TIER_PATH]);
void wr_name_slot(const char *work, char ret[WR_TIER_PATH]);
void wr_name_trash(const char *work, char ret[WR_TIER_PATH]);
void wr_name_aside(const char *work, uint64_t step, char ret[WR_TIER_PATH]);
void wr_name_leaving(const char *work, uint64_t step, char ret[WR_TIER_PATH]);
void wr_name_draft(const char *work, char ret[WR_TIER_PATH]);
void wr_name_stale(uint64_t step, const char *id, char ret[WR_TIER_PATH]);
void wr_name_generation(uint64_t n, char ret[WR_TIER_PATH]);
void wr_name_mark(enum wr_mark kind, uint64_t step, char ret[WR_TIER_PATH]);
/* Beside `path`, which it will replace. */
void wr_name_new(const char *path, char ret[WR_TIER_PATH]);
/* "DIR/LEAF" */
void wr_name_join(const char *dir, const char *leaf, char ret[WR_TIER_PATH]);

#endif
