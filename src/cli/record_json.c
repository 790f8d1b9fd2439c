/* record_json.c - parts that the records of all commands have.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/record_json.h"

#include "base/text.h"
#include "monitor/host.h"

#define TEXT_BYTES 8192

json_t *wr_text_json(const char *s)
{
    char shown[TEXT_BYTES];

    return json_string(wr_text_show(s, false, shown, sizeof(shown)));
}

json_t *wr_host_json(struct wr_store *st)
{
    struct wr_host h;
    struct wr_host_fs fs;
    char path[4096];
    json_t *j;

    wr_host_info(&h);
    j = json_pack("{s:s, s:s, s:s, s:i, s:I}", "name", h.name, "kernel",
                  h.kernel, "cpu", h.cpu, "cores", (int)h.cores, "memory_bytes",
                  (json_int_t)h.memory_bytes);
    if (st->ops->local_path &&
        st->ops->local_path(st, "", path, sizeof(path)) &&
        wr_host_fs_of(path, &fs, NULL) == 0)
        json_object_set_new(j, "file_system",
                            json_pack("{s:s, s:s, s:s, s:s, s:i}", "type",
                                      fs.type, "source", fs.source, "device",
                                      fs.device, "model", fs.model,
                                      "rotational", fs.rotational));
    return j;
}
