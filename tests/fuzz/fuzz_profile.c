/* fuzz_profile.c - device profile files, and what the model makes of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "storage/device.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(const struct wr_device_profile *p)
{
    struct wr_device *d = NULL;

    if (wr_device_new(p, &d, NULL) < 0)
        return;
    for (uint64_t i = 0; i < 40; i++) {
        struct wr_device_request rq = {
            .op = (enum wr_device_op)(i % 4),
            .object = i % 3,
            .offset = i << 20,
            .len = 1000 * i,
        };

        if (wr_device_submit(d, &rq, i * 1000) < i * 1000)
            abort();
    }
    wr_device_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_device_profile p, back;
    weir_err err = {0};
    char *text;

    if (wr_device_profile_parse((const char *)data, size, "fuzz", &p, &err) <
        0) {
        if (err.code >= 0 || !err.msg[0])
            abort();
        return 0;
    }
    text = wr_device_profile_text(&p);
    if (!text)
        return 0;
    if (wr_device_profile_parse(text, strlen(text), "x", &back, NULL) < 0 ||
        memcmp(&p, &back, sizeof(p)) != 0)
        abort();
    free(text);
    run(&p);
    return 0;
}
