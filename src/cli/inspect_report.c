/* inspect_report.c - what weir inspect found out, for a person.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/inspect_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/chart.h"
#include "cli/screen.h"
#include "format/chunks.h"
#include "format/remarks.h"

#define NAME_BYTES 1024u
#define NOTE_BYTES 48u

void wr_inspect_count_pictures(const struct wr_inspect_scan *s,
                               struct wr_inspect_pictures *ret)
{
    struct wr_inspect_pictures p = {.min_width = UINT32_MAX,
                                    .min_height = UINT32_MAX};

    for (uint64_t k = 0; k < s->count; k++) {
        const struct wr_inspect_found *f = &s->found[k];

        if (!f->width)
            continue;
        p.good++;
        p.of_kind[f->kind]++;
        p.turned += f->turned;
        p.gray += f->components <= 2;
        p.colour += f->components == 3;
        p.four += f->components == 4;
        p.min_width = WR_MIN(p.min_width, f->width);
        p.max_width = WR_MAX(p.max_width, f->width);
        p.min_height = WR_MIN(p.min_height, f->height);
        p.max_height = WR_MAX(p.max_height, f->height);
    }
    *ret = p;
}

static const char *count_text(uint64_t n, char *buf)
{
    return wr_format_count(buf, 32, n);
}

static const char *size_text(uint64_t n, char *buf)
{
    return wr_format_bytes(buf, 32, (double)n);
}

static void print_class(const struct wr_cli *cli,
                        const struct wr_inspect_report *r, uint32_t label,
                        uint64_t samples)
{
    const char *name = weir_dataset_class_name(r->ds, label);
    char shown[NAME_BYTES], n[32];

    wr_cli_put(cli, "%s (", count_text(samples, n));
    if (name)
        wr_cli_put(cli, "'%s')",
                   wr_text_show(name, true, shown, sizeof(shown)));
    else
        wr_cli_put(cli, "label %" PRIu32 ")", label);
}

static void print_extremes(const struct wr_cli *cli,
                           const struct wr_inspect_report *r,
                           const struct wr_inspect_class *smallest,
                           const struct wr_inspect_class *largest)
{
    char a[32];

    if (smallest->samples == largest->samples) {
        wr_cli_put(cli, ", each of %s sample%s",
                   count_text(largest->samples, a),
                   largest->samples == 1 ? "" : "s");
        return;
    }
    wr_cli_put(cli, ", the smallest of ");
    print_class(cli, r, smallest->label, smallest->samples);
    wr_cli_put(cli, ", the largest of ");
    print_class(cli, r, largest->label, largest->samples);
}

/* As far as samples were looked at. */
static void print_labels(const struct wr_cli *cli,
                         const struct wr_inspect_report *r)
{
    const struct wr_inspect_labels *l = &r->scan.labels;
    char a[32];

    wr_cli_put(cli, "  classes   %s (labels of ",
               l->count ? count_text(l->count, a) : "none");
    wr_cli_put(cli, r->scan.all ? "all %s samples)" : "the %s samples checked)",
               count_text(r->scan.count, a));
    if (l->count)
        print_extremes(cli, r, &l->list[l->smallest], &l->list[l->largest]);
    if (l->count && l->unlabelled)
        wr_cli_put(cli, "; %s samples have no label",
                   count_text(l->unlabelled, a));
    wr_cli_put(cli, "\n");
}

/* Why the index knows none. */
static void print_no_classes(const struct wr_cli *cli, const weir_dataset *ds)
{
    const struct wr_field *f = wr_schema_label(wr_index_schema(ds->index));
    char name[NAME_BYTES];

    if (f && f->pub.dtype != WEIR_I64)
        wr_cli_put(cli, "  classes   none: '%s' is a label of %s",
                   wr_text_show(f->name, true, name, sizeof(name)),
                   wr_dtype_text(f->pub.dtype));
    else if (f && f->column != WR_NO_COLUMN)
        wr_cli_put(cli,
                   "  classes   not counted: '%s' is read with each sample",
                   wr_text_show(f->name, true, name, sizeof(name)));
    else
        wr_cli_put(cli, "  classes   none");
}

static void print_classes(const struct wr_cli *cli,
                          const struct wr_inspect_report *r)
{
    const struct wr_inspect_stats *s = &r->stats;
    char a[32];

    if (r->scan.has_labels) {
        print_labels(cli, r);
        return;
    }
    if (s->classes)
        wr_cli_put(cli, "  classes   %s", count_text(s->classes, a));
    else
        print_no_classes(cli, r->ds);
    if (s->class_samples)
        print_extremes(cli, r,
                       &(struct wr_inspect_class){
                           s->smallest, s->class_samples[s->smallest]},
                       &(struct wr_inspect_class){
                           s->largest, s->class_samples[s->largest]});
    if (s->classes && s->unlabelled)
        wr_cli_put(cli, "; %s samples have no label",
                   count_text(s->unlabelled, a));
    wr_cli_put(cli, "\n");
}

/* Fields, where there are others than one picture or tensor and its label. */
static void print_fields(const struct wr_cli *cli, const weir_dataset *ds)
{
    uint32_t count, labels = 0;
    const weir_field *f = weir_dataset_fields(ds, &count);
    char type[64], name[NAME_BYTES];

    for (uint32_t k = 0; k < count; k++)
        labels += f[k].is_label != 0;
    if (count - labels == 1 &&
        (f[0].kind == WEIR_FIELD_PICTURE || f[0].kind == WEIR_FIELD_TENSOR))
        return;
    for (uint32_t k = 0; k < count; k++)
        wr_cli_put(cli, "  %-9s %s: %s%s%s\n", k ? "" : "fields",
                   wr_text_show(f[k].name, true, name, sizeof(name)),
                   wr_field_text(&f[k], type, sizeof(type)),
                   f[k].is_label ? ", the label" : "",
                   f[k].is_extra ? ", if it is asked for" : "");
}

/* How the samples of each field are cut, where they are. */
static void print_chunks(const struct wr_cli *cli, const weir_dataset *ds)
{
    const struct wr_schema *s = wr_index_schema(ds->index);
    char name[NAME_BYTES], text[256], bytes[32];
    const char *head = "chunks";
    struct wr_chunks c;

    for (unsigned k = 0; k < s->count; k++) {
        if (!wr_chunks_of(ds->index, k, &c))
            continue;
        wr_cli_put(
            cli,
            "  %-9s %s: %s; a sample touches %u, %s, %.1f times its bytes\n",
            head, wr_text_show(s->fields[k].name, true, name, sizeof(name)),
            wr_chunks_text(&c, text, sizeof(text)), c.touched,
            size_text(c.unpacked, bytes), c.amplification);
        head = "";
    }
}

static void print_links(const struct wr_cli *cli, const weir_dataset *ds)
{
    uint64_t links = weir_dataset_link_count(ds);
    char a[32];

    if (links)
        wr_cli_put(
            cli,
            "  links     %s symbolic link%s followed, wherever %s lead%s; "
            "--no-links refuses them\n",
            count_text(links, a), links == 1 ? "" : "s",
            links == 1 ? "it" : "they", links == 1 ? "s" : "");
}

static void print_head(const struct wr_cli *cli,
                       const struct wr_inspect_report *r)
{
    const weir_field *shape = wr_index_tensor(r->ds->index);
    const struct wr_inspect_stats *s = &r->stats;
    size_t memory = wr_index_memory(r->ds->index);
    const char *file = wr_index_file(r->ds->index);
    char a[32], b[32], c[32], d[32], e[32], f[32], text[NAME_BYTES];

    wr_cli_put(cli, "%s%s%s: %s\n\n", wr_cli_style(cli, WR_STYLE_BOLD),
               wr_text_show(r->url, true, text, sizeof(text)),
               wr_cli_style(cli, WR_STYLE_END), weir_dataset_format(r->ds));
    wr_cli_put(cli, "  samples   %s in %s %s\n", count_text(s->count, a),
               count_text(wr_index_object_count(r->ds->index), b),
               wr_index_object_count(r->ds->index) == 1 ? "file" : "files");
    print_fields(cli, r->ds);
    print_chunks(cli, r->ds);
    if (shape)
        wr_cli_put(cli, "  shape     %s\n",
                   wr_field_text(shape, text, sizeof(text)));
    print_classes(cli, r);
    wr_cli_put(cli, "  bytes     %s\n", size_text(s->bytes, a));
    if (s->min == s->max)
        wr_cli_put(cli, "  sizes     all %s\n", size_text(s->min, a));
    else
        wr_cli_put(cli,
                   "  sizes     min %s, median %s, mean %s, p90 %s, p99 %s, "
                   "max %s\n",
                   size_text(s->min, a), size_text(s->median, b),
                   wr_format_bytes(c, sizeof(c), s->mean), size_text(s->p90, d),
                   size_text(s->p99, e), size_text(s->max, f));
    print_links(cli, r->ds);
    wr_cli_put(cli, "  index     %s of memory, %.1f bytes per sample, ",
               size_text(memory, a), (double)memory / (double)s->count);
    if (file)
        wr_cli_put(cli, "reused from %s in %.3f s\n",
                   wr_text_show(file, true, text, sizeof(text)),
                   r->index_seconds);
    else
        wr_cli_put(cli, "built in %.3f s\n", r->index_seconds);
}

static void print_histogram(const struct wr_cli *cli,
                            const struct wr_inspect_stats *s)
{
    struct wr_chart_bar bars[WR_INSPECT_BINS];
    char labels[WR_INSPECT_BINS][80], notes[WR_INSPECT_BINS][NOTE_BYTES];
    char a[32], b[32];

    if (!s->bins)
        return;
    for (unsigned k = 0; k < s->bins; k++) {
        const struct wr_inspect_bin *bin = &s->bin[k];

        if (bin->to)
            snprintf(labels[k], sizeof(labels[k]), "%s - %s",
                     size_text(bin->from, a), size_text(bin->to, b));
        else
            snprintf(labels[k], sizeof(labels[k]), "%s or more",
                     size_text(bin->from, a));
        snprintf(notes[k], sizeof(notes[k]), "%s (%.1f %%)",
                 count_text(bin->count, a),
                 100.0 * (double)bin->count / (double)s->count);
        bars[k] = (struct wr_chart_bar){labels[k], (double)bin->count,
                                        notes[k]};
    }
    wr_cli_put(cli, "\nSamples by size\n\n");
    wr_chart_bars(cli, bars, s->bins, 2);
}

static void print_dims(const struct wr_cli *cli,
                       const struct wr_inspect_scan *s, uint64_t good)
{
    struct wr_inspect_dim top[WR_INSPECT_TOP_DIMS];
    int64_t distinct = wr_inspect_dims(s->found, s->count, top);
    char a[32];

    if (distinct < 0)
        return; /* no memory for a remark */
    wr_cli_put(cli, "  dimensions  ");
    for (unsigned k = 0; k < WR_INSPECT_TOP_DIMS && top[k].count; k++)
        wr_cli_put(cli, "%s%" PRIu32 "x%" PRIu32 " %.1f %%", k ? ", " : "",
                   top[k].width, top[k].height,
                   100.0 * (double)top[k].count / (double)good);
    if (distinct > WR_INSPECT_TOP_DIMS)
        wr_cli_put(cli, "; %s others",
                   count_text((uint64_t)distinct - WR_INSPECT_TOP_DIMS, a));
    wr_cli_put(cli, "\n");
}

static void print_kinds(const struct wr_cli *cli,
                        const struct wr_inspect_pictures *p)
{
    const char *between = "  formats     ";
    char a[32];

    for (int k = 1; k < WR_PICTURE_KINDS; k++) {
        if (!p->of_kind[k])
            continue;
        wr_cli_put(cli, "%s%s %s", between, wr_picture_kind_name(k),
                   count_text(p->of_kind[k], a));
        between = ", ";
    }
    wr_cli_put(cli, "\n");
}

static void print_pictures(const struct wr_cli *cli,
                           const struct wr_inspect_report *r)
{
    const struct wr_inspect_scan *s = &r->scan;
    struct wr_inspect_pictures p;
    char a[32], b[32], c[32];

    wr_cli_put(cli, "\nPictures (%s %s%s%s)\n\n",
               r->verified ? "decoded:" : "headers of",
               s->all     ? "all "
               : s->first ? "the first "
                          : "",
               count_text(s->count, a),
               s->first ? "; gzip is read in order" : "");
    wr_inspect_count_pictures(s, &p);
    if (!p.good)
        return;
    print_dims(cli, s, p.good);
    wr_cli_put(cli,
               "  widths      %" PRIu32 " to %" PRIu32 ", heights %" PRIu32
               " to %" PRIu32 "\n",
               p.min_width, p.max_width, p.min_height, p.max_height);
    print_kinds(cli, &p);
    wr_cli_put(cli, "  colours     gray %s, RGB %s, CMYK or RGBA %s\n",
               count_text(p.gray, a), count_text(p.colour, b),
               count_text(p.four, c));
    if (p.turned)
        wr_cli_put(
            cli,
            "  turned      %s that EXIF says are not upright: --orient exif "
            "turns them\n",
            count_text(p.turned, a));
    if (s->misnamed)
        wr_cli_put(cli,
                   "  misnamed    %s with an extension of another format\n",
                   count_text(s->misnamed, a));
}

static void print_broken(const struct wr_cli *cli,
                         const struct wr_inspect_report *r)
{
    const struct wr_inspect_scan *s = &r->scan;
    char path[8192], name[NAME_BYTES], reason[NAME_BYTES], a[32], b[32];

    if (!s->count)
        return;
    if (!s->broken_count) {
        wr_cli_put(cli, "\n%sNone of %s samples is broken%s%s\n",
                   wr_cli_style(cli, WR_STYLE_GOOD), count_text(s->count, a),
                   r->verified ? "." : ", as far as their headers tell.",
                   wr_cli_style(cli, WR_STYLE_END));
        return;
    }
    wr_cli_put(cli, "\n%sBroken samples: %s of %s%s\n\n",
               wr_cli_style(cli, WR_STYLE_BAD), count_text(s->broken_count, a),
               count_text(s->count, b), wr_cli_style(cli, WR_STYLE_END));
    for (size_t k = 0; k < s->broken_kept; k++) {
        struct wr_part p;

        wr_index_part(r->ds->index, 0, s->broken[k].id, &p);
        wr_index_object_path(r->ds->index, p.object, path, sizeof(path));
        wr_cli_put(
            cli, "  '%s': %s\n", wr_text_show(path, true, name, sizeof(name)),
            wr_text_show(s->broken[k].reason, true, reason, sizeof(reason)));
    }
    if (s->broken_count > s->broken_kept)
        wr_cli_put(cli, "  ... and %s more\n",
                   count_text(s->broken_count - s->broken_kept, a));
}

bool wr_inspect_is_chosen(const struct wr_inspect_report *r)
{
    return strlen(r->ds->url) < strlen(r->url);
}

/* Names that samples have, and no field. */
static void list_left(const struct wr_intern *left, char *buf, size_t cap)
{
    char shown[WR_FIELD_NAME * 4];
    size_t used = 0;

    for (size_t k = 0; k < left->count && used + 300 < cap; k++)
        used += (size_t)snprintf(
            buf + used, cap - used, "%s'%.200s'",
            used ? ", " : "samples have what no field delivers: ",
            wr_text_show(wr_intern_text(left, k), true, shown, sizeof(shown)));
    if (used + 300 >= cap)
        snprintf(buf + used, cap - used, ", ...");
}

bool wr_inspect_remark_at(const struct wr_inspect_report *r, unsigned k,
                          char *buf, size_t cap)
{
    unsigned looks = r->ds->format->looks, n = 0;
    bool all = r->scan.count && r->scan.all;

    while (wr_remark_at(r->ds, n, buf, cap))
        if (n++ == k)
            return true;
    if (r->scan.left.count && n++ == k) {
        list_left(&r->scan.left, buf, cap);
        return true;
    }
    if (!looks || r->stats.count <= looks || all || wr_inspect_is_chosen(r) ||
        n != k)
        return false;
    snprintf(buf, cap,
             "the fields are what the first %u samples have; --verify names "
             "what only later ones have",
             looks);
    return true;
}

static void print_remarks(const struct wr_cli *cli,
                          const struct wr_inspect_report *r)
{
    char remark[WR_REMARK_BYTES], shown[WR_REMARK_BYTES];

    for (unsigned k = 0; wr_inspect_remark_at(r, k, remark, sizeof(remark));
         k++)
        wr_cli_put(cli, "  %sremark%s    %s\n",
                   wr_cli_style(cli, WR_STYLE_WARN),
                   wr_cli_style(cli, WR_STYLE_END),
                   wr_text_show(remark, true, shown, sizeof(shown)));
}

static void print_issues(const struct wr_cli *cli, const weir_dataset *ds)
{
    uint64_t count = weir_dataset_issue_count(ds), k = 0;
    char name[NAME_BYTES], reason[NAME_BYTES], a[32];
    const weir_issue *issue;

    if (!count)
        return;
    wr_cli_put(cli, "\n%sProblems while indexing: %s%s\n\n",
               wr_cli_style(cli, WR_STYLE_WARN), count_text(count, a),
               wr_cli_style(cli, WR_STYLE_END));
    for (; (issue = weir_dataset_issue(ds, k)); k++)
        wr_cli_put(cli, "  '%s': %s\n",
                   wr_text_show(issue->name, true, name, sizeof(name)),
                   wr_text_show(issue->reason, true, reason, sizeof(reason)));
    if (count > k)
        wr_cli_put(cli, "  ... and %s more\n", count_text(count - k, a));
}

static const struct wr_column class_columns[] = {
    {.head = "label", .help = "number of the class", .side = '>'},
    {.head = "samples", .help = "samples with this label", .side = '>'},
    {.head = "class", .help = "its name, if it has one", .side = '<'},
    {.head = NULL}};

const struct wr_columns wr_inspect_columns[] = {
    {"of --list-classes", class_columns}, {NULL, NULL}};

static void add_class(struct wr_table *t, const struct wr_inspect_report *r,
                      uint32_t label, uint64_t samples)
{
    const char *name = weir_dataset_class_name(r->ds, label);
    char shown[NAME_BYTES], n[32];

    wr_table_cell(t, "%" PRIu32, label);
    wr_table_cell(t, "%s", count_text(samples, n));
    wr_table_cell(t, "%s",
                  wr_text_show(name ? name : "", true, shown, sizeof(shown)));
}

static void print_all_classes(const struct wr_cli *cli,
                              const struct wr_inspect_report *r)
{
    const struct wr_inspect_labels *l = &r->scan.labels;
    struct wr_table *t;
    weir_err err;

    if (!r->all_classes || (!r->stats.class_samples && !l->count))
        return;
    t = wr_table_of(class_columns, 0);
    for (uint32_t c = 0; r->stats.class_samples && c < r->stats.classes; c++)
        add_class(t, r, c, r->stats.class_samples[c]);
    for (size_t k = 0; k < l->count; k++)
        add_class(t, r, l->list[k].label, l->list[k].samples);
    wr_cli_put(cli, "\nClasses\n\n");
    if (wr_table_print(t, cli, 2, &err) < 0)
        wr_cli_note(cli, "%s", err.msg);
    wr_table_free(t);
}

void wr_inspect_print(const struct wr_cli *cli,
                      const struct wr_inspect_report *r)
{
    struct wr_screen screen;
    const struct wr_cli *to = wr_screen_start(&screen, cli);

    print_head(to, r);
    print_remarks(to, r);
    print_histogram(to, &r->stats);
    print_all_classes(to, r);
    if (r->scan.count && wr_index_has_pictures(r->ds->index))
        print_pictures(to, r);
    print_issues(to, r->ds);
    print_broken(to, r);
    wr_screen_end(&screen);
}
