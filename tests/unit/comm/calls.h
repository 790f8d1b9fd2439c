/* calls.h - what every backend of comm does: one table for all of them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_COMM_CALLS_H
#define TEST_COMM_CALLS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "both_ways.h"
#include "comm/comm.h"
#include "ranks.h"

static inline void gather_some(struct wr_comm *c, size_t base)
{
    size_t len = base * c->rank;
    char *mine = malloc(len + 1);
    struct wr_comm_part *parts;

    memset(mine, 'a' + (int)c->rank, len);
    CHECK(wr_comm_gather(c, mine, len, &parts, NULL) == 0);
    free(mine);
    if (c->rank != 0) {
        CHECK(!parts);
        return;
    }
    for (uint32_t k = 0; k < c->world; k++) {
        const char *b = parts[k].bytes;

        CHECK(parts[k].len == base * k);
        for (size_t i = 0; i < parts[k].len; i++)
            CHECK(b[i] == 'a' + (char)k);
    }
    free(parts);
}

static inline void broadcast_some(struct wr_comm *c, size_t len)
{
    char *mine = NULL, *got;
    size_t got_len;

    if (c->rank == 0) {
        mine = malloc(len + 1);
        for (size_t i = 0; i < len; i++)
            mine[i] = (char)(i * 7);
    }
    CHECK(wr_comm_broadcast(c, mine, len, &got, &got_len, NULL) == 0);
    CHECK(got != mine && got_len == len && got[len] == '\0');
    for (size_t i = 0; i < len; i++)
        CHECK(got[i] == (char)(i * 7));
    free(got);
    free(mine);
}

static inline void agree_some(struct wr_comm *c)
{
    uint32_t last = c->world - 1;
    weir_err mine, err = {0};

    CHECK(wr_comm_agree(c, 0, NULL, &err) == 0);
    CHECK(err.code == 0);
    wr_fail_errno(&mine, 28, "'f%u': cannot write", c->rank);
    /* the last alone */
    CHECK(wr_comm_agree(c, c->rank == last ? mine.code : 0, &mine, &err) ==
          WEIR_ENOSPC);
    CHECK(err.code == WEIR_ENOSPC && err.os_errno == 28);
    CHECK_TEXT(err.msg, "cannot write: No space");
    if (c->world > 1) {
        char head[40];

        snprintf(head, sizeof(head), "rank %u: 'f%u'", last, last);
        CHECK(!strncmp(err.msg, head, strlen(head)));
    } else {
        CHECK(!strncmp(err.msg, "'f0'", 4));
    }
    /* of several the lowest */
    if (c->world > 2) {
        CHECK(wr_comm_agree(c, c->rank ? WEIR_EIO : 0, NULL, &err) == WEIR_EIO);
        CHECK(!strncmp(err.msg, "rank 1: ", 8));
    }
    CHECK(wr_comm_agree(c, 0, NULL, NULL) == 0);
    CHECK(!c->failed);
}

static inline void share_some(struct wr_comm *c, size_t len)
{
    unsigned char *buf = malloc(len + 1);

    for (uint32_t root = 0; root < c->world; root++) {
        for (size_t i = 0; i < len; i++)
            buf[i] = c->rank == root ? (unsigned char)(i * 7 + root) : 0xee;
        CHECK(wr_comm_share(c, buf, len, root, NULL) == 0);
        for (size_t i = 0; i < len; i++)
            CHECK(buf[i] == (unsigned char)(i * 7 + root));
    }
    CHECK(wr_comm_share(c, buf, len, c->world, NULL) == WEIR_EINVAL);
    CHECK(!c->failed);
    free(buf);
}

static inline void max_some(struct wr_comm *c)
{
    bool in[MAX_RANKS] = {true};
    uint64_t most, last = c->world - 1;

    CHECK(wr_comm_max(c, NULL, 10 + c->rank, &most, NULL) == 0);
    CHECK(most == 10 + last);
    CHECK(wr_comm_max(c, NULL, UINT64_MAX - c->rank, &most, NULL) == 0);
    CHECK(most == UINT64_MAX);
    /* every other rank */
    for (uint32_t k = 0; k < c->world; k += 2)
        in[k] = true;
    for (int n = 0; n < 3 && in[c->rank]; n++) {
        CHECK(wr_comm_max(c, in, 20 + c->rank, &most, NULL) == 0);
        CHECK(most == 20 + last / 2 * 2);
    }
    CHECK(wr_comm_max(c, NULL, c->rank, &most, NULL) == 0 && most == last);
}

static inline void min_some(struct wr_comm *c)
{
    uint64_t min;

    CHECK(wr_comm_min(c, UINT64_C(1) << (40 + c->world - c->rank), &min,
                      NULL) == 0);
    CHECK(min == UINT64_C(1) << 41);
    CHECK(wr_comm_min(c, UINT64_MAX, &min, NULL) == 0);
    CHECK(min == UINT64_MAX);
}

static inline void all_together(struct wr_comm *c)
{
    gather_some(c, 0);
    gather_some(c, 3);
    gather_some(c, 3000000); /* more than any socket holds */
    broadcast_some(c, 0);
    broadcast_some(c, 17);
    broadcast_some(c, 5000000);
    for (int k = 0; k < 200; k++)
        CHECK(barrier(c, NULL) == 0);
    agree_some(c);
    share_some(c, 0);
    share_some(c, 100);
    share_some(c, ((size_t)9 << 20) + 7);
    max_some(c);
    min_some(c);
}

#endif
