/* test_pnm.c - PBM, PGM and PPM: comments, scaling, damage.
 * SPDX-License-Identifier: Apache-2.0 */
#include "small_picture.h"

static void check_text(const char *text, uint32_t w, uint32_t h,
                       const uint8_t *rgb)
{
    check_pixels(text, strlen(text), w, h, rgb);
}

static void refuse(const char *text, int code, const char *word)
{
    check_refused(text, strlen(text), code, word);
}

static void test_plain(void **state)
{
    static const uint8_t gray[] = {0, 0, 0, 85, 85, 85, 255, 255, 255};
    static const uint8_t bits[] = {255, 255, 255, 0, 0, 0, 255, 255, 255};

    check_text("P2 3 1 3 0 1 3", 3, 1, gray);
    check_text("P2#c\n#c\r 3#c\n1 3\n0\t1#c\n3", 3, 1, gray);
    check_text("P3\n1 1 255\n10 20 30\n", 1, 1, (const uint8_t[]){10, 20, 30});
    check_text("P1 3 1 010", 3, 1, bits);
    check_text("P1 3 1\n0 1\n#c\n0", 3, 1, bits);
}

static void test_raw(void **state)
{
    check_pixels("P5 1 1 255 \x80", 12, 1, 1,
                 (const uint8_t[]){0x80, 0x80, 0x80});
    check_pixels("P6\n1 1\n65535\n\xff\xff\x80\x00\x00\x00", 19, 1, 1,
                 (const uint8_t[]){255, 128, 0});
    check_pixels("P4 9 1\n\x80\x80", 9, 9, 1,
                 (const uint8_t[]){0,   0,   0,   255, 255, 255, 255, 255, 255,
                                   255, 255, 255, 255, 255, 255, 255, 255, 255,
                                   255, 255, 255, 255, 255, 255, 0,   0,   0});
    /* a sample over the largest value is the largest */
    check_pixels("P5 1 1 9\n\x64", 10, 1, 1, (const uint8_t[]){255, 255, 255});
}

static void test_damage(void **state)
{
    refuse("P5 2 2 255 abc", WEIR_EFORMAT, "truncated");
    refuse("P5 2 2 255", WEIR_EFORMAT, "header");
    refuse("P5 2 2", WEIR_EFORMAT, "header");
    refuse("P5 2x 2 255 abcd", WEIR_EFORMAT, "header");
    refuse("P5 2 -2 255 abcd", WEIR_EFORMAT, "header");
    refuse("P5 99999999999 2 255 ", WEIR_EFORMAT, "header");
    refuse("P5 70000 2 255 ", WEIR_ELIMIT, "70000x2");
    refuse("P5 60000 60000 255 ", WEIR_ELIMIT, "limit");
    refuse("P5 0 2 255 ", WEIR_EFORMAT, "0x2");
    refuse("P5 2 2 0 abcd", WEIR_EFORMAT, "largest value");
    refuse("P5 2 2 65536 abcd", WEIR_EFORMAT, "largest value");
    refuse("P2 2 1 9 1 10", WEIR_EFORMAT, "largest value");
    refuse("P2 2 1 9 1 x", WEIR_EFORMAT, "no number");
    refuse("P2 2 2 9 1 2 3 ", WEIR_EFORMAT, "truncated");
    refuse("P1 2 2 0112", WEIR_EFORMAT, "no number");
    refuse("P1 2 2 01 1", WEIR_EFORMAT, "truncated");
    refuse("P2 16000 16000 9 1 2 3", WEIR_EFORMAT, "truncated");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_raw),
        cmocka_unit_test(test_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
