/* record_json.c - results of commands as JSON, and parts that records share.
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

json_t *wr_cores_json(const struct wr_cores_use *u, bool starved)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:b}", "count", u->count,
                     "own", u->own, "others", u->others, "idle", u->idle,
                     "stolen", u->stolen, "throttled", u->throttled, "starved",
                     (int)starved);
}

json_t *wr_accelerator_json(const struct wr_accelerator *a, uint32_t batch)
{
    json_t *j = json_pack(
        "{s:s, s:f, s:s}", "name", *a->name ? a->name : "none", "step_ms",
        wr_accelerator_step_ms(a, batch), "source", a->source);

    if (j && a->kind == WR_ACCELERATOR_EMULATED)
        json_object_update_new(j,
                               json_pack("{s:f, s:f}", "fixed_ms", a->fixed_ms,
                                         "per_sample_ms", a->per_sample_ms));
    return j;
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

static int print(const struct wr_cli *cli, json_t *root, size_t flags)
{
    int r = root ? json_dumpf(root, cli->out,
                              flags | JSON_PRESERVE_ORDER |
                                  JSON_REAL_PRECISION(6))
                 : -1;

    json_decref(root);
    if (r < 0)
        return wr_cli_fail(cli, "cannot print the result as JSON");
    fputc('\n', cli->out);
    return WR_EXIT_DONE;
}

int wr_json_print(const struct wr_cli *cli, json_t *root)
{
    return print(cli, root, JSON_INDENT(2));
}

int wr_json_print_line(const struct wr_cli *cli, json_t *root)
{
    return print(cli, root, JSON_COMPACT);
}
