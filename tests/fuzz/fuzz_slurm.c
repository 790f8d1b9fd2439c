/* fuzz_slurm.c - lists of nodes and tasks, and addresses of rank 0.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "comm/meet.h"
#include "comm/launch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), node[64];
    struct wr_meet m = {.ops = &wr_meet_tcp, .path = text};
    weir_err err = {0};
    uint32_t tasks;

    memcpy(text, data, size);
    text[size] = '\0';
    /* A name that passes has nothing in it that a URL would take for more. */
    if (wr_slurm_first_node(text, node, sizeof(node), &err) < 0) {
        if (err.code >= 0 || !err.msg[0])
            abort();
    } else if (!node[0] || strpbrk(node, ":,/[] \n")) {
        abort();
    }
    for (uint32_t k = 0; k < 3; k++)
        if (wr_slurm_tasks(text, k, &tasks, &err) < 0 && err.code >= 0)
            abort();
    if (wr_meet_tcp.check(&m, &err) < 0 && err.code >= 0)
        abort();
    free(text);
    return 0;
}
