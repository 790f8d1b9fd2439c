/* talk.c - messages to and from weir.
 * SPDX-License-Identifier: Apache-2.0 */
#include "hdf5/talk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAYLOAD_MAX ((uint64_t)32 << 20)

static void take(void *buf, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = read(WR_H5_FD, (char *)buf + done, len - done);

        if (n == 0 || (n < 0 && errno != EINTR))
            _exit(0);
        done += n > 0 ? (size_t)n : 0;
    }
}

static void give(const void *buf, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = write(WR_H5_FD, (const char *)buf + done, len - done);

        if (n < 0 && errno != EINTR)
            _exit(0);
        done += n > 0 ? (size_t)n : 0;
    }
}

void h5_hear(struct wr_h5_head *ret, void **ret_payload)
{
    char *payload;

    take(ret, sizeof(*ret));
    if (ret->version != WR_H5_VERSION || ret->len > PAYLOAD_MAX)
        _exit(3);
    payload = malloc(ret->len + 1);
    if (!payload)
        _exit(4);
    take(payload, ret->len);
    payload[ret->len] = '\0';
    *ret_payload = payload;
}

void h5_say(enum wr_h5_kind kind, uint64_t number, uint64_t offset,
            const void *payload, size_t len)
{
    const struct wr_h5_head head = {.version = WR_H5_VERSION,
                                    .kind = kind,
                                    .number = number,
                                    .offset = offset,
                                    .len = len};

    give(&head, sizeof(head));
    give(payload, len);
}

void h5_error(const char *why)
{
    char text[WR_H5_WHY] = "";

    strncpy(text, why, sizeof(text) - 1);
    h5_say(WR_H5_ERROR, 0, 0, text, strlen(text) + 1);
}

bool h5_fetch(uint64_t offset, size_t len, void *buf)
{
    struct wr_h5_head head;
    void *payload;
    bool good;

    h5_say(WR_H5_READ, len, offset, NULL, 0);
    h5_hear(&head, &payload);
    good = head.kind == WR_H5_BYTES && head.len == len;
    if (good)
        memcpy(buf, payload, len);
    free(payload);
    return good;
}
