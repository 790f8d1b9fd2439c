/* result_dump.c - prints what a command would of the record that it has made.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: result-dump RECORD */
#include "report/result.h"

#include <stdio.h>

#define WIDTH 170

int main(int argc, char **argv)
{
    struct wr_doc_text_style style = {.width = WIDTH, .utf8 = true};
    json_t *record = argc == 2 ? json_load_file(argv[1], 0, NULL) : NULL;
    weir_err err;
    int r;

    if (!record) {
        fprintf(stderr, "result-dump: a record, please\n");
        return 2;
    }
    r = wr_result_print(record, style, stdout, &err);
    if (r < 0)
        fprintf(stderr, "result-dump: %s\n", err.msg);
    json_decref(record);
    return r < 0;
}
