/* stage_report.c - what weir stage has done, as text and as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/stage_report.h"

#include <inttypes.h>
#include <limits.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/record_json.h"

#define SHOWN_BAD  20u
#define PATH_BYTES (4 * PATH_MAX + 8) /* each byte as \xNN */

json_t *wr_stage_note_bad(const struct wr_cli *cli, const weir_pipeline *p)
{
    uint64_t count = weir_pipeline_bad_count(p), k = 0;
    json_t *list = json_array();
    const weir_bad_sample *b;
    char shown[PATH_BYTES];

    for (; (b = weir_pipeline_bad(p, k)); k++) {
        const char *text = b->text ? b->text : "out of memory";

        if (k < SHOWN_BAD)
            wr_cli_note(cli, "left out: %s",
                        wr_text_show(text, true, shown, sizeof(shown)));
        json_array_append_new(
            list, json_string(wr_text_show(text, false, shown, sizeof(shown))));
    }
    if (count > SHOWN_BAD)
        wr_cli_note(cli, "and %" PRIu64 " more (--json names up to 1,000)",
                    count - SHOWN_BAD);
    return list;
}

static double rate_of(const struct wr_stage_result *s)
{
    return (double)s->stats.bytes_read / WR_MAX(s->seconds, 1e-9);
}

void wr_stage_print_text(const struct wr_cli *cli,
                         const struct wr_stage_result *s)
{
    char shown[PATH_BYTES], a[32], b[32], c[32];

    wr_cli_put(cli, "%s: %s of %s samples staged, %s\n",
               wr_text_show(cli->operands[1], true, shown, sizeof(shown)),
               wr_format_count(a, sizeof(a), s->kept),
               wr_format_count(b, sizeof(b), s->samples),
               wr_format_bytes(c, sizeof(c), (double)s->stats.cache_dir_bytes));
    wr_cli_put(cli, "staged %s now, %s before",
               wr_format_count(a, sizeof(a), s->staged),
               wr_format_count(b, sizeof(b), s->before));
    if (s->not_fitted)
        wr_cli_put(cli, ", %s did not fit",
                   wr_format_count(a, sizeof(a), s->not_fitted));
    if (s->stats.bad)
        wr_cli_put(cli, ", %s bad sample%s left out",
                   wr_format_count(a, sizeof(a), s->stats.bad),
                   s->stats.bad == 1 ? "" : "s");
    wr_cli_put(cli, "\nread %s in %.1f s, %s/s\n",
               wr_format_bytes(a, sizeof(a), (double)s->stats.bytes_read),
               s->seconds, wr_format_bytes(b, sizeof(b), rate_of(s)));
}

int wr_stage_print_json(const struct wr_cli *cli,
                        const struct wr_stage_result *s, json_t *bad)
{
    char url[PATH_BYTES], tiers[PATH_BYTES];
    json_t *o = json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, "
        "s:f, s:O}",
        "dataset", wr_text_show(cli->operands[0], false, url, sizeof(url)),
        "tiers", wr_text_show(cli->operands[1], false, tiers, sizeof(tiers)),
        "what", s->decoded ? "decoded" : "encoded", "samples",
        (json_int_t)s->samples, "kept", (json_int_t)s->kept, "staged",
        (json_int_t)s->staged, "already_there", (json_int_t)s->before,
        "not_fitted", (json_int_t)s->not_fitted, "bad_count",
        (json_int_t)s->stats.bad, "damaged", (json_int_t)s->stats.cache_damaged,
        "tier_bytes", (json_int_t)s->stats.cache_dir_bytes, "bytes_read",
        (json_int_t)s->stats.bytes_read, "seconds", s->seconds, "mb_per_s",
        rate_of(s) / 1e6, "bad", bad);

    return wr_json_print(cli, o);
}
