/* plan_words.h - a plan in sentences: how fast, who waits, what to change.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each is "" if the record does not tell. All return buf. */
#ifndef WR_RECORD_PLAN_WORDS_H
#define WR_RECORD_PLAN_WORDS_H

#include "record/view.h"

/* "32 V100", "8 accelerators": of all nodes. */
char *wr_plan_who(const json_t *record, char *buf, size_t cap);

/* Samples per second and the utilization; who waits for whom in an epoch; the
 * first bottleneck and the next one behind it. */
char *wr_plan_say_answer(const json_t *record, char *buf, size_t cap);
char *wr_plan_waits(const json_t *record, char *buf, size_t cap);
char *wr_plan_bottleneck(const json_t *record, char *buf, size_t cap);

/* Whether only the first steps were simulated: an epoch of the record is then
 * a part of one. */
bool wr_plan_is_partial(const json_t *record);

/* How long all epochs take, and how much of them was simulated. */
char *wr_plan_part(const json_t *record, char *buf, size_t cap);

/* The change with the largest gain. */
char *wr_plan_best(const json_t *record, char *buf, size_t cap);

/* What accelerators that never wait need; how many can be fed. */
char *wr_plan_demand(const json_t *record, char *buf, size_t cap);
char *wr_plan_say_capacity(const json_t *record, char *buf, size_t cap);

/* How it scales with the nodes: where the knee is. */
char *wr_plan_scales(const json_t *record, char *buf, size_t cap);

/* How often to save, and what saves and failures cost. */
char *wr_plan_saves(const json_t *record, char *buf, size_t cap);
char *wr_plan_fails(const json_t *record, char *buf, size_t cap);

/* What was seen in the times of a training, and what would remove it. */
char *wr_plan_seen(const json_t *record, char *buf, size_t cap);
char *wr_plan_cure(const json_t *record, char *buf, size_t cap);

/* What was assumed, and not measured or said. */
char *wr_plan_assumed(const json_t *record, char *buf, size_t cap);

/* "the bandwidth of the storage" of the name that a record has for a resource;
 * the name itself if it is none of those known. */
const char *wr_plan_limit_name(const char *resource);

/* Number of the last point of `scale` within WR_PLAN_LINEAR of what the first
 * one gives for so many nodes; SIZE_MAX: there are not two points. */
#define WR_PLAN_LINEAR 0.95
size_t wr_plan_knee(const json_t *record);

#endif
