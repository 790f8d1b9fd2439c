/* fuzz_record.c - any bytes as a record: loaded, shown in every form, as its
 * command prints it, compared, and beside another.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "result/record.h"
#include "report/report.h"
#include "report/result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(const struct wr_report_spec *spec)
{
    struct wr_comparison comparison;
    struct wr_doc *d = NULL;
    weir_err err = {0};
    size_t cap = 0;
    char *text = NULL;
    FILE *out;

    if (wr_report(spec, &d, &comparison, &err) < 0) {
        if (d || !err.msg[0])
            abort();
        return;
    }
    out = open_memstream(&text, &cap);
    if (out) {
        wr_doc_print_text(d, &(struct wr_doc_text_style){.width = 80}, out);
        wr_doc_print_text(d,
                          &(struct wr_doc_text_style){
                              .width = 1, .utf8 = true, .colour = true},
                          out);
        wr_doc_print_csv(d, out);
        wr_doc_print_json(d, out, &err);
        wr_doc_print_html(d, out, &err);
        fclose(out);
    }
    free(text);
    wr_doc_free(d);
}

/* On a terminal and in a file. */
static void print(const json_t *record)
{
    size_t cap = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &cap);

    for (int whole = 0; out && whole < 2; whole++) {
        const struct wr_doc_text_style style = {.width = 60, .whole = whole};

        (void)wr_result_print(record, style, out, NULL);
    }
    if (out)
        fclose(out);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const paths[] = {"a/run.json", "b/run.json"};
    json_t *record = NULL;
    weir_err err = {0};

    if (wr_record_parse((const char *)data, size, "input", &record, &err) < 0) {
        if (record || !err.msg[0])
            abort();
        return 0;
    }
    show(&(struct wr_report_spec){.paths = paths,
                                  .records = (const json_t *[]){record},
                                  .count = 1,
                                  .title = "fuzz"});
    show(&(struct wr_report_spec){.paths = paths,
                                  .records = (const json_t *[]){record, record},
                                  .count = 2,
                                  .title = "fuzz",
                                  .compare = true});
    show(&(struct wr_report_spec){.paths = paths,
                                  .records = (const json_t *[]){record, record},
                                  .count = 2,
                                  .title = "fuzz"});
    print(record);
    json_decref(record);
    return 0;
}
