/* test_emulated.c - which URLs are read from an emulated device, and titles.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <string.h>

#include "base/mem.h"
#include "report/doc_private.h"
#include "result/get.h"
#include "report/view.h"

static void test_urls(void **state)
{
    static const struct {
        const char *url, *device; /* "": the real one */
    } table[] = {
        {"photos", ""},
        {"", ""},
        {"/data/emu:hdd:x", ""},
        {"emu:hdd:photos", "emulated hdd"},
        {"emu:./raid.profile:/data", "emulated ./raid.profile"},
        {"emu:hdd", ""}, /* it has no path: nothing can be opened by it */
        {"emu:hdd,trace=/tmp/t:photos", "emulated hdd"},
        {"fault:eio@%10:photos", ""},
        {"fault:", ""},
        {"fault:delay=10:emu:ssd:photos", "emulated ssd"},
        {"fault:a:fault:b:emu:nfs:x", "emulated nfs"},
    };
    char text[64];

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(table); i++) {
        assert_int_equal(wr_emulated(table[i].url, text, sizeof(text)),
                         *table[i].device != '\0');
        assert_string_equal(text, table[i].device);
    }
    assert_true(wr_emulated("emu:hdd:x", text, 6)); /* cut */
    assert_string_equal(text, "emula");
}

/* The title of a section of records, each a text of JSON. */
static void check_title(const char *const *texts, size_t n, const char *title)
{
    struct wr_view_record r[4] = {0};
    struct wr_doc *d = wr_doc_new("", "");

    for (size_t i = 0; i < n; i++) {
        r[i].label = "x";
        r[i].json = json_loads(texts[i], 0, NULL);
        assert_non_null(r[i].json);
    }
    assert_non_null(wr_view_section(d, "Title", r, n));
    assert_string_equal(d->sections[0]->title, title);
    for (size_t i = 0; i < n; i++)
        json_decref((json_t *)(uintptr_t)r[i].json);
    wr_doc_free(d);
}

static void test_titles(void **state)
{
    static const char real[] = "{\"dataset\": {\"url\": \"p\"}}";
    static const char hdd[] = "{\"dataset\": {\"url\": \"emu:hdd:p\"}}";
    static const char probe[] = "{\"path\": \"emu:ssd:p\"}";
    static const char tiers[] = "{\"fast\": \"emu:ssd:p\", \"slow\": "
                                "\"emu:hdd:p\"}";
    static const char slow[] = "{\"fast\": \"p\", \"slow\": \"emu:hdd:p\"}";
    static const char one[] = "{\"fast\": \"emu:hdd:p\", \"slow\": "
                              "\"emu:hdd:q\"}";

    (void)state;
    check_title((const char *[]){real}, 1, "Title");
    check_title((const char *[]){"[]"}, 1, "Title");
    check_title((const char *[]){hdd}, 1, "Title, emulated hdd");
    check_title((const char *[]){hdd, hdd}, 2, "Title, emulated hdd");
    check_title((const char *[]){hdd, probe}, 2, "Title, emulated devices");
    check_title((const char *[]){real, hdd}, 2, "Title, some of it emulated");
    check_title((const char *[]){tiers}, 1, "Title, emulated ssd and hdd");
    check_title((const char *[]){slow}, 1, "Title, emulated hdd (slow tier)");
    check_title((const char *[]){one}, 1, "Title, emulated hdd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_titles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
