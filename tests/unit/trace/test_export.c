/* test_export.c - traces in the forms of other programs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "script.h"

#include <stdlib.h>
#include <string.h>

#include "trace/export.h"

/* One file read twice in pieces of 4000 bytes with a zero read at the end, as
 * Darshan counts it; a quote and an escape in its name. */
static void make(struct maker *m)
{
    uint32_t file;
    uint64_t at = 0;

    maker_open(m);
    maker_process(m, -1, 0, 100);
    file = maker_name(m, 8000, "/data/a\"\033b");
    for (int pass = 0; pass < 2; pass++) {
        maker_event(m, (struct wr_trace_event){.op = WR_TRACE_OPEN,
                                               .file = file,
                                               .offset = UINT64_MAX,
                                               .start_ns = at,
                                               .dur_ns = 1000});
        for (uint64_t k = 0; k < 3; k++)
            maker_event(
                m, (struct wr_trace_event){.op = WR_TRACE_READ,
                                           .file = file,
                                           .offset = k * 4000,
                                           .bytes = k < 2 ? 4000 : 0,
                                           .start_ns = at + 1000 + k * 2000,
                                           .dur_ns = 2000});
        at += MS;
    }
}

static char *text_of(struct maker *m,
                     int (*export)(struct wr_trace_file *, FILE *, weir_err *))
{
    struct wr_trace_file *f = maker_read(m);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    weir_err err;

    if (export(f, out, &err) < 0)
        fail_msg("%s", err.msg);
    fclose(out);
    wr_trace_file_close(f);
    maker_done(m);
    assert_null(strchr(text, '\033'));
    return text;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in: %.3000s", part, text);
}

static void test_csv(void **state)
{
    struct maker m;
    char *text;

    make(&m);
    text = text_of(&m, wr_trace_export_csv);
    has(text, "start_s,duration_ns,pid,tid,rank,call,file,file2,offset,");
    has(text, "0.000001000,2000,1000,1000,-1,read,\"/data/a\"\"\\x1bb\",\"\",0,"
              "4000,0,0\n");
    has(text, "0.000000000,1000,1000,1000,-1,open,");
    free(text);
}

static void test_chrome(void **state)
{
    struct maker m;
    char *text;

    make(&m);
    text = text_of(&m, wr_trace_export_chrome);
    has(text, "\"ph\":\"X\",\"ts\":1.000,\"dur\":2.000,\"pid\":1000");
    has(text, "\"file\":\"/data/a\\\"\\\\x1bb\",\"bytes\":4000,\"offset\":0");
    has(text, "\n]}\n");
    free(text);
}

/* The first read at 0 is not "behind byte 0", the one from the start of the
 * second pass neither; the zero read at the end follows. */
static void test_darshan(void **state)
{
    struct maker m;
    char *text;

    make(&m);
    text = text_of(&m, wr_trace_export_darshan);
    has(text, "\tPOSIX_OPENS\t2\t");
    has(text, "\tPOSIX_READS\t6\t");
    has(text, "\tPOSIX_SEQ_READS\t4\t");
    has(text, "\tPOSIX_CONSEC_READS\t4\t");
    has(text, "\tPOSIX_BYTES_READ\t16000\t");
    has(text, "\tPOSIX_MAX_BYTE_READ\t7999\t");
    has(text, "\tPOSIX_SIZE_READ_0_100\t2\t");
    has(text, "\tPOSIX_SIZE_READ_1K_10K\t4\t");
    has(text, "\tPOSIX_ACCESS1_ACCESS\t4000\t");
    has(text, "\tPOSIX_ACCESS1_COUNT\t4\t");
    has(text, "\tPOSIX_F_READ_TIME\t0.000012\t");
    has(text, "\t/data\tnfs4\n");
    free(text);
}

/* What a spreadsheet would run. */
static void test_csv_formula(void **state)
{
    struct maker m;
    uint32_t file;
    char *text;

    maker_open(&m);
    maker_process(&m, -1, 0, 100);
    file = maker_name(&m, 10, "=cmd|' /C calc'!A0");
    maker_event(&m, (struct wr_trace_event){.op = WR_TRACE_OPEN,
                                            .file = file,
                                            .offset = UINT64_MAX});
    text = text_of(&m, wr_trace_export_csv);
    has(text, ",open,\"'=cmd|' /C calc'!A0\",\"\",");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv), cmocka_unit_test(test_csv_formula),
        cmocka_unit_test(test_chrome), cmocka_unit_test(test_darshan)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
