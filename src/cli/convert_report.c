/* convert_report.c - what weir convert has done, as text and as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/convert_report.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/shown.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/record_json.h"

#define SHOWN_BAD  20u
#define PATH_BYTES (4 * PATH_MAX + 8) /* each byte as \xNN */

/* What decoding costs, per sample and per epoch. */
struct saving {
    bool known;
    double before_ns, after_ns; /* of one sample */
    double core_seconds;        /* of one epoch */
};

static struct saving saving_of(const struct wr_convert_result *res)
{
    const struct wr_convert_saving *m = &res->saving;
    struct saving s = {.known = m->samples > 0};

    if (!s.known)
        return s;
    s.before_ns = (double)m->before_ns / (double)m->samples;
    s.after_ns = (double)m->after_ns / (double)m->samples;
    s.core_seconds = (s.before_ns - s.after_ns) * (double)res->samples /
                     (double)WR_NS_PER_SEC;
    return s;
}

static double seconds_of(const struct wr_convert_result *res)
{
    return (double)WR_MAX(res->elapsed_ns, (uint64_t)1) / (double)WR_NS_PER_SEC;
}

static double ratio_of(const struct wr_convert_result *res)
{
    return res->bytes_in ? (double)res->bytes_out / (double)res->bytes_in : 0;
}

void wr_convert_note_bad(const struct wr_cli *cli,
                         const struct wr_convert_result *res)
{
    char shown[PATH_BYTES];

    if (*res->left_out)
        wr_cli_note(cli,
                    "fields of bytes are left out unless --fields names "
                    "them: %s",
                    wr_text_show(res->left_out, true, shown, sizeof(shown)));
    for (size_t k = 0; k < res->bad_count && k < SHOWN_BAD; k++)
        wr_cli_note(cli, "left out: %s",
                    wr_text_show(res->bad_text[k], true, shown, sizeof(shown)));
    if (res->bad > SHOWN_BAD)
        wr_cli_note(cli, "and %" PRIu64 " more (--json names up to %d)",
                    res->bad - SHOWN_BAD, WR_CONVERT_BAD_KEPT);
}

static void print_saving(const struct wr_cli *cli,
                         const struct wr_convert_result *res)
{
    struct saving s = saving_of(res);
    char a[32], b[32];

    if (!s.known)
        return;
    wr_cli_put(cli,
               "decode: %s -> %s per sample on one core (measured on %" PRIu64
               " samples); %s %.1f core-seconds per epoch\n",
               wr_format_ns(a, sizeof(a), s.before_ns),
               s.after_ns > 0 ? wr_format_ns(b, sizeof(b), s.after_ns) : "none",
               res->saving.samples, s.core_seconds < 0 ? "costs" : "saves",
               s.core_seconds < 0 ? -s.core_seconds : s.core_seconds);
}

void wr_convert_print_text(const struct wr_cli *cli,
                           const struct wr_convert_config *cfg,
                           const struct wr_convert_result *res)
{
    bool tree = !strcmp(cfg->to, "jpeg");
    char a[32], b[32], c[32];

    wr_cli_put(cli, "%s: %s samples", wr_show_path(cfg->target).text,
               wr_format_count(a, sizeof(a), res->samples));
    if (!tree)
        wr_cli_put(cli, " in %s shard%s",
                   wr_format_count(b, sizeof(b), res->shards),
                   res->shards == 1 ? "" : "s");
    wr_cli_put(cli, ", %s -> %s (%.2f)",
               wr_format_bytes(b, sizeof(b), (double)res->bytes_in),
               wr_format_bytes(c, sizeof(c), (double)res->bytes_out),
               ratio_of(res));
    if (res->bad)
        wr_cli_put(cli, ", %s bad sample%s left out",
                   wr_format_count(a, sizeof(a), res->bad),
                   res->bad == 1 ? "" : "s");
    wr_cli_put(
        cli, "\nmade in %.1f s by %u thread%s: %s/s read", seconds_of(res),
        res->threads, res->threads == 1 ? "" : "s",
        wr_format_bytes(a, sizeof(a), (double)res->read / seconds_of(res)));
    if (res->kept)
        wr_cli_put(cli, "; an earlier run had made %s of the %s",
                   wr_format_count(b, sizeof(b), res->kept),
                   tree ? "pieces" : "shards");
    wr_cli_put(cli, "\n");
    print_saving(cli, res);
}

static json_t *saving_json(const struct wr_convert_result *res)
{
    struct saving s = saving_of(res);

    if (!s.known)
        return json_null();
    return json_pack("{s:I, s:f, s:f, s:f}", "samples",
                     (json_int_t)res->saving.samples, "before_ms",
                     s.before_ns / 1e6, "after_ms", s.after_ns / 1e6,
                     "core_seconds_per_epoch", s.core_seconds);
}

static json_t *bad_json(const struct wr_convert_result *res)
{
    json_t *list = json_array();
    char shown[PATH_BYTES];

    for (size_t k = 0; k < res->bad_count; k++)
        json_array_append_new(list,
                              json_string(wr_text_show(res->bad_text[k], false,
                                                       shown, sizeof(shown))));
    return list;
}

int wr_convert_print_json(const struct wr_cli *cli,
                          const struct wr_convert_config *cfg,
                          const struct wr_convert_result *res)
{
    bool tree = !strcmp(cfg->to, "jpeg"); /* has no shards */
    char path[PATH_BYTES];
    json_t *root = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:f, s:f, s:o, "
        "s:o}",
        "path", wr_text_show(cfg->target, false, path, sizeof(path)), "to",
        cfg->to, "samples", (json_int_t)res->samples, "shards",
        tree ? (json_int_t)0 : (json_int_t)res->shards, "shards_kept",
        tree ? (json_int_t)0 : (json_int_t)res->kept, "bytes_in",
        (json_int_t)res->bytes_in, "bytes_out", (json_int_t)res->bytes_out,
        "ratio", ratio_of(res), "bytes_read", (json_int_t)res->read, "threads",
        (json_int_t)res->threads, "seconds", seconds_of(res), "mb_per_s",
        (double)res->read / 1e6 / seconds_of(res), "decode", saving_json(res),
        "bad", bad_json(res));

    if (root && json_object_set_new(root, "bad_count",
                                    json_integer((json_int_t)res->bad)) < 0) {
        json_decref(root);
        root = NULL;
    }
    return wr_json_print(cli, root);
}
