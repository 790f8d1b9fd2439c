/* test_reference.c - docs/formats/workload.md has every key as the table has it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "workload/schema.h"

static char *reference;

static int setup(void **state)
{
    FILE *f = fopen(WEIR_TEST_DATA "/../../docs/formats/workload.md", "r");
    size_t len;

    reference = calloc(1, 1 << 18);
    if (!f || !reference)
        return -1;
    len = fread(reference, 1, (1 << 18) - 1, f);
    fclose(f);
    return len > 1000 ? 0 : -1;
}

static int teardown(void **state)
{
    free(reference);
    return 0;
}

static bool ends_with(const char *line, size_t len, const char *end)
{
    size_t n = strlen(end);

    return len >= n && !memcmp(line + len - n, end, n);
}

static void test_rows(void **state)
{
    const struct wr_wl_key *k;
    unsigned rows = 0;

    for (size_t i = 0; (k = wr_wl_key_at(i)); i++) {
        const char *quote = k->preset ? "`" : "";
        char begin[128], end[256];
        const char *line;

        snprintf(begin, sizeof(begin), "\n| `%s` | ", k->path);
        line = strstr(reference, begin);
        if (!line)
            fail_msg("workload.md has no %s", k->path);
        snprintf(end, sizeof(end), " | %s%s%s | %s |", quote,
                 k->preset ? k->preset : "none", quote, k->help);
        if (k->kind == WR_WL_KEY_DEAD)
            snprintf(end, sizeof(end), "` | %s |", k->help);
        if (!ends_with(line + 1, strcspn(line + 1, "\n"), end))
            fail_msg("workload.md: %s does not end with '%s'", k->path, end);
    }
    for (const char *at = reference; (at = strstr(at, "\n| `")); at++) {
        const char *path = at + 4;

        rows += wr_wl_key_find(path, strcspn(path, "`")) != NULL;
    }
    for (size_t i = 0; wr_wl_key_at(i); i++)
        rows--;
    assert_int_equal(rows, 0); /* none stands twice */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
