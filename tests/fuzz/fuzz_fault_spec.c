/* fuzz_fault_spec.c - the rules in URLs of the fault store.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "storage/storage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char url[4200] = "fault:";
    struct wr_store *st = NULL;
    char *leaf = NULL;
    struct wr_stat sb;
    weir_err err = {0};
    size_t used;

    if (size > 4000)
        return 0;
    memcpy(url + 6, data, size);
    used = strlen(url); /* the input may hold a NUL: the text ends there */
    strcpy(url + used, ":/");
    if (wr_store_open(url, &st, &leaf, &err) < 0) {
        if (st || leaf || err.code >= 0 || !err.msg[0])
            abort();
        return 0;
    }
    /* A rule may make it fail, and then it says why; or hang. */
    if (!strstr(url, "hang=") && st->ops->stat(st, "", &sb, &err) < 0 &&
        (err.code >= 0 || !err.msg[0]))
        abort();
    wr_store_close(st);
    free(leaf);
    return 0;
}
