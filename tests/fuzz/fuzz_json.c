/* fuzz_json.c - JSON lines and arrays, from text to fields.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first byte of the input chooses the options. */
#include "one_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const fragments[] = {NULL, "x=/x", "x=/a/0,label=/c",
                                            "x=.", "s=/s,x=/x/1,y=/x"};
    static const char *const schemas[] = {NULL, "x=tensor:f64", "x=tensor:u8",
                                          "x=tensor:i64"};
    struct one_file f = {.name = "a.json"};

    if (!size)
        return 0;
    f.name = data[0] & 64 ? "a.json" : "a.jsonl";
    f.size = size - 1;
    f.data = malloc(size);
    if (!f.data)
        return 0;
    memcpy(f.data, data + 1, f.size);
    one_file_run(&wr_format_json, &f,
                 fragments[data[0] % WR_ARRAY_LEN(fragments)],
                 schemas[data[0] / 8 % WR_ARRAY_LEN(schemas)]);
    free(f.data);
    return 0;
}
