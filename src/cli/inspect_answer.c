/* inspect_answer.c - what weir inspect found out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/inspect_answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/answers.h"
#include "codec/filters.h"
#include "format/chunks.h"
#include "format/remarks.h"
#include "result/record.h"

#define PATH_BYTES 8192u

/* --- fields, and how they are cut --- */

static json_t *numbers_json(const uint64_t *dims, uint32_t count)
{
    json_t *list = json_array();

    for (uint32_t k = 0; k < count; k++)
        json_array_append_new(list, dims[k] == WEIR_DIM_VARIES
                                        ? json_null()
                                        : json_integer((json_int_t)dims[k]));
    return list;
}

static json_t *field_dims(const void *field)
{
    const weir_field *f = field;

    return numbers_json(f->dims, f->ndim);
}

static const char *field_dtype(const void *field)
{
    return wr_dtype_text(((const weir_field *)field)->dtype);
}

static const char *field_kind(const void *field)
{
    return wr_field_kind_name(((const weir_field *)field)->kind);
}

static json_t *field_text(const void *field)
{
    char text[256];

    return json_string(wr_field_text(field, text, sizeof(text)));
}

#define THIS weir_field
static const struct wr_vals wr_shape_vals = WR_VALS_OF(
    WR_VAL_BY(TEXT, "dtype", .text = field_dtype),
    WR_VAL_BY(JSON, "dims", .json = field_dims));

static const struct wr_vals wr_field_vals = WR_VALS_OF(
    WR_VAL_IS(TEXT, name), WR_VAL_BY(TEXT, "kind", .text = field_kind),
    WR_VAL_BY(TEXT, "dtype", .text = field_dtype),
    WR_VAL_BY(JSON, "dims", .json = field_dims),
    WR_VAL_OF(TRUTH, "label", is_label, .help = "it is the label"),
    WR_VAL_OF(TRUTH, "extra", is_extra,
              .help = "delivered only if it is asked for by its name"),
    WR_VAL_BY(JSON, "text", .json = field_text, .flags = WR_VAL_INSIDE));
#undef THIS

static json_t *shape_json(const void *of)
{
    const weir_field *f = wr_index_tensor(
        ((const struct wr_inspect_report *)of)->ds->index);

    return f && wr_field_bytes(f)
               ? wr_vals_json(&wr_shape_vals, f, WR_FOR_RECORD)
               : json_null();
}

static json_t *shape_text(const void *of)
{
    const weir_field *f = wr_index_tensor(
        ((const struct wr_inspect_report *)of)->ds->index);

    return f ? field_text(f) : NULL;
}

static json_t *fields_json(const void *of)
{
    uint32_t count;
    const weir_field *f = weir_dataset_fields(
        ((const struct wr_inspect_report *)of)->ds, &count);

    return wr_vals_list_json(&wr_field_vals, f, count, WR_FOR_RECORD);
}

/* Fields, where there are others than one picture or tensor and its label. */
static json_t *fields_shown(const void *of)
{
    uint32_t count, labels = 0;
    const weir_field *f = weir_dataset_fields(
        ((const struct wr_inspect_report *)of)->ds, &count);

    for (uint32_t k = 0; k < count; k++)
        labels += f[k].is_label != 0;
    if (count - labels == 1 &&
        (f[0].kind == WEIR_FIELD_PICTURE || f[0].kind == WEIR_FIELD_TENSOR))
        return NULL;
    return wr_vals_list_json(&wr_field_vals, f, count, WR_FOR_RANKS);
}

struct chunked {
    const char *field;
    struct wr_chunks chunks;
};

static json_t *chunk_dims(const void *chunked)
{
    const struct wr_chunks *c = &((const struct chunked *)chunked)->chunks;

    return numbers_json(c->dims, c->ndim);
}

static json_t *chunk_filters(const void *chunked)
{
    uint32_t filters = ((const struct chunked *)chunked)->chunks.filters;
    json_t *list = json_array();

    for (unsigned f = 4; f-- > 0;)
        if (filters >> 8 * f & 0xff)
            json_array_append_new(
                list, wr_text_json(wr_filter_name(filters >> 8 * f & 0xff)));
    return list;
}

static json_t *chunk_text(const void *chunked)
{
    char text[256];

    return json_string(wr_chunks_text(
        &((const struct chunked *)chunked)->chunks, text, sizeof(text)));
}

#define THIS struct chunked
static const struct wr_vals wr_chunk_vals = WR_VALS_OF(
    WR_VAL_IS(TEXT, field), WR_VAL_BY(JSON, "dims", .json = chunk_dims),
    WR_VAL_BY(JSON, "filters", .json = chunk_filters),
    WR_VAL_OF(U32, "touched_per_sample", chunks.touched),
    WR_VAL_OF(U64, "bytes_per_sample", chunks.unpacked),
    WR_VAL_OF(REAL, "amplification", chunks.amplification),
    WR_VAL_BY(JSON, "text", .json = chunk_text, .flags = WR_VAL_INSIDE));
#undef THIS

static json_t *list_chunks(const struct wr_inspect_report *r,
                           enum wr_val_for whom)
{
    const struct wr_schema *s = wr_index_schema(r->ds->index);
    json_t *list = json_array();
    struct chunked c;

    for (unsigned k = 0; k < s->count; k++) {
        c.field = s->fields[k].name;
        if (wr_chunks_of(r->ds->index, k, &c.chunks))
            json_array_append_new(list, wr_vals_json(&wr_chunk_vals, &c, whom));
    }
    return list;
}

static json_t *chunks_json(const void *of)
{
    return list_chunks(of, WR_FOR_RECORD);
}

static json_t *chunks_shown(const void *of)
{
    return list_chunks(of, WR_FOR_RANKS);
}

/* --- sizes --- */

static json_t *bin_end(const void *bin)
{
    uint64_t to = ((const struct wr_inspect_bin *)bin)->to;

    return to ? json_integer((json_int_t)to) : json_null();
}

#define THIS struct wr_inspect_bin
static const struct wr_vals wr_bin_vals = WR_VALS_OF(
    WR_VAL_IS(U64, from),
    WR_VAL_BY(U64, "to", .json = bin_end, .flags = WR_VAL_NULL,
              .help = "null: no end"),
    WR_VAL_IS(U64, count));
#undef THIS

static json_t *bins_json(const void *stats)
{
    const struct wr_inspect_stats *s = stats;

    return wr_vals_list_json(&wr_bin_vals, s->bin, s->bins, WR_FOR_RECORD);
}

#define THIS struct wr_inspect_stats
static const struct wr_vals wr_sizes_vals = WR_VALS_OF(
    WR_VAL_OF(U64, "total", bytes), WR_VAL_IS(U64, min), WR_VAL_IS(U64, median),
    WR_VAL_IS(REAL, mean), WR_VAL_IS(U64, p90), WR_VAL_IS(U64, p99),
    WR_VAL_IS(U64, max), WR_VAL_BY(LIST(bin), "histogram", .json = bins_json));
#undef THIS

/* The histogram with a bar for each bin. */
static json_t *bars_json(const void *of)
{
    const struct wr_inspect_report *r = of;
    json_t *list = json_array();
    uint64_t most = 1;

    for (unsigned k = 0; k < r->stats.bins; k++)
        most = WR_MAX(most, r->stats.bin[k].count);
    for (unsigned k = 0; k < r->stats.bins; k++) {
        const struct wr_inspect_bin *b = &r->stats.bin[k];
        json_t *row = wr_vals_json(&wr_bin_vals, b, WR_FOR_RECORD);
        char bar[512];

        wr_text_bar((double)b->count, (double)most,
                    WR_MIN(r->columns, (unsigned)sizeof(bar) / 4), r->utf8,
                    bar);
        json_object_set_new(row, "bar", json_string(bar));
        json_object_set_new(
            row, "share",
            json_real(100.0 * (double)b->count / (double)r->stats.count));
        json_array_append_new(list, row);
    }
    return list;
}

/* --- classes --- */

struct named_class {
    uint32_t label;
    const char *name; /* NULL: it has none */
    uint64_t samples;
};

#define THIS struct named_class
static const struct wr_vals wr_class_vals = WR_VALS_OF(
    WR_VAL_IS(U32, label), WR_VAL_IS(TEXT, name, .flags = WR_VAL_NULL),
    WR_VAL_IS(U64, samples));
#undef THIS

/* Of those that are known one by one; NULL: past the last one. The labels lie in
 * the index, or in the samples: as far as those were looked at. */
static json_t *class_at(const struct wr_inspect_report *r, uint64_t k)
{
    const struct wr_inspect_class *met = &r->scan.labels.list[k];
    struct named_class c = {.label = (uint32_t)k};

    if (k >= r->classes || !(r->scan.has_labels || r->stats.class_samples))
        return NULL;
    if (r->scan.has_labels)
        c.label = met->label;
    c.name = weir_dataset_class_name(r->ds, c.label);
    c.samples = r->scan.has_labels ? met->samples : r->stats.class_samples[k];
    return wr_vals_json(&wr_class_vals, &c, WR_FOR_RECORD);
}

static json_t *smallest_class(const void *of)
{
    const struct wr_inspect_report *r = of;

    return class_at(r, r->scan.has_labels ? r->scan.labels.smallest
                                          : r->stats.smallest);
}

static json_t *largest_class(const void *of)
{
    const struct wr_inspect_report *r = of;

    return class_at(r, r->scan.has_labels ? r->scan.labels.largest
                                          : r->stats.largest);
}

static json_t *class_list(const void *of)
{
    const struct wr_inspect_report *r = of;
    json_t *list = json_array(), *entry;

    for (uint64_t k = 0; r->all_classes && (entry = class_at(r, k)); k++)
        json_array_append_new(list, entry);
    return list;
}

/* Why the index knows none. */
static json_t *no_classes(const void *of)
{
    const struct wr_inspect_report *r = of;
    const struct wr_field *f = wr_schema_label(wr_index_schema(r->ds->index));
    char text[1024] = "none";

    if (r->classes || r->scan.has_labels || !f)
        return json_string("none");
    if (f->pub.dtype != WEIR_I64)
        snprintf(text, sizeof(text), "none: '%s' is a label of %s", f->name,
                 wr_dtype_text(f->pub.dtype));
    else if (f->column != WR_NO_COLUMN)
        snprintf(text, sizeof(text),
                 "not counted: '%s' is read with each sample", f->name);
    return wr_text_json(text);
}

#define THIS struct wr_inspect_report
static const struct wr_vals wr_classes_vals = WR_VALS_OF(
    WR_VAL_OF(U64, "count", classes),
    WR_VAL_OF(U64, "samples_looked_at", labels_of),
    WR_VAL_OF(U64, "unlabelled_samples", unlabelled),
    WR_VAL_BY(GROUP(class), "smallest", .json = smallest_class,
              .flags = WR_VAL_SPARE),
    WR_VAL_BY(GROUP(class), "largest", .json = largest_class,
              .flags = WR_VAL_SPARE),
    WR_VAL_BY(LIST(class), "list", .json = class_list),
    WR_VAL_BY(JSON, "none", .json = no_classes, .flags = WR_VAL_INSIDE));
#undef THIS

/* --- pictures --- */

#define THIS struct wr_inspect_dim
static const struct wr_vals wr_dim_vals = WR_VALS_OF(
    WR_VAL_IS(U32, width), WR_VAL_IS(U32, height), WR_VAL_IS(U64, count));
#undef THIS

static json_t *dims_json(const void *of)
{
    const struct wr_inspect_pictures *p =
        &((const struct wr_inspect_report *)of)->pictures;
    size_t n = 0;

    while (n < WR_INSPECT_TOP_DIMS && p->dims[n].count)
        n++;
    return wr_vals_list_json(&wr_dim_vals, p->dims, n, WR_FOR_RECORD);
}

/* "300x200 38.9 %" for each of these. */
static json_t *dims_shown(const void *of)
{
    const struct wr_inspect_pictures *p =
        &((const struct wr_inspect_report *)of)->pictures;
    json_t *list = json_array();

    for (size_t n = 0; n < WR_INSPECT_TOP_DIMS && p->dims[n].count; n++)
        json_array_append_new(
            list,
            json_sprintf("%ux%u %.1f %%", p->dims[n].width, p->dims[n].height,
                         100.0 * (double)p->dims[n].count / (double)p->good));
    return list;
}

/* "JPEG 72" for each kind that there is. */
static json_t *kinds_shown(const void *of)
{
    const struct wr_inspect_pictures *p =
        &((const struct wr_inspect_report *)of)->pictures;
    json_t *list = json_array();
    char n[32];

    for (int k = 1; k < WR_PICTURE_KINDS; k++)
        if (p->of_kind[k])
            json_array_append_new(
                list,
                json_sprintf("%s %s", wr_picture_kind_name(k),
                             wr_format_count(n, sizeof(n), p->of_kind[k])));
    return list;
}

#define THIS struct wr_inspect_range
static const struct wr_vals wr_range_vals = WR_VALS_OF(WR_VAL_IS(COUNT, min),
                                                       WR_VAL_IS(COUNT, max));
#undef THIS

#define KIND(key, kind) WR_VAL_OF(U64, key, pictures.of_kind[WR_PICTURE_##kind])

#define THIS struct wr_inspect_report
static const struct wr_vals wr_pictures_vals = WR_VALS_OF(
    WR_VAL_OF(U64, "readable", pictures.good), KIND("jpeg", JPEG),
    KIND("png", PNG), KIND("webp", WEBP), KIND("tiff", TIFF), KIND("gif", GIF),
    KIND("bmp", BMP), KIND("pnm", PNM), WR_VAL_OF(U64, "gray", pictures.gray),
    WR_VAL_OF(U64, "rgb", pictures.colour),
    WR_VAL_OF(U64, "cmyk_or_rgba", pictures.four),
    WR_VAL_OF(U64, "not_upright", pictures.turned),
    WR_VAL_OF(U64, "misnamed", scan.misnamed),
    WR_VAL_OF(COUNT, "distinct_dimensions", pictures.distinct),
    WR_VAL_BY(LIST(dim), "dimensions", .json = dims_json),
    WR_VAL_OF(GROUP(range), "width", pictures.width, .flags = WR_VAL_SPARE),
    WR_VAL_OF(GROUP(range), "height", pictures.height, .flags = WR_VAL_SPARE));
#undef THIS

static json_t *pictures_json(const void *of)
{
    const struct wr_inspect_report *r = of;

    return r->scan.count && wr_index_has_pictures(r->ds->index)
               ? wr_vals_json(&wr_pictures_vals, r, WR_FOR_RECORD)
               : json_null();
}

/* --- what is wrong --- */

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

/* Of the data set, then of what was looked at. */
static json_t *remarks_json(const void *of)
{
    const struct wr_inspect_report *r = of;
    unsigned looks = r->ds->format->looks;
    char remark[WR_REMARK_BYTES];
    json_t *list = json_array();

    for (unsigned k = 0; wr_remark_at(r->ds, k, remark, sizeof(remark)); k++)
        json_array_append_new(list, wr_text_json(remark));
    if (r->scan.left.count) {
        list_left(&r->scan.left, remark, sizeof(remark));
        json_array_append_new(list, wr_text_json(remark));
    }
    if (looks && r->stats.count > looks && !(r->scan.count && r->scan.all) &&
        !wr_inspect_is_chosen(r))
        json_array_append_new(
            list, json_sprintf("the fields are what the first %u samples have; "
                               "--verify names what only later ones have",
                               looks));
    return list;
}

struct extension {
    const char *extension;
    uint64_t files;
};

#define THIS struct extension
static const struct wr_vals wr_extension_vals = WR_VALS_OF(
    WR_VAL_IS(TEXT, extension), WR_VAL_IS(U64, files));
#undef THIS

static json_t *ignored_list(const void *of)
{
    const struct wr_inspect_report *r = of;
    json_t *list = json_array();
    struct extension e;

    for (uint32_t k = 0;
         (e.extension = weir_dataset_ignored(r->ds, k, &e.files)); k++)
        json_array_append_new(
            list, wr_vals_json(&wr_extension_vals, &e, WR_FOR_RECORD));
    return list;
}

/* Of the index, or of a sample that lies there. */
struct problem {
    weir_issue issue;
    uint64_t sample, offset;
};

static const char *problem_code(const void *problem)
{
    return weir_error_name(((const struct problem *)problem)->issue.code);
}

#define PROBLEM                                                                \
    WR_VAL_OF(TEXT, "name", issue.name),                                       \
        WR_VAL_BY(TEXT, "code", .text = problem_code, .help = "WEIR_E..."),    \
        WR_VAL_OF(TEXT, "reason", issue.reason)

#define THIS struct problem
static const struct wr_vals wr_issue_vals = WR_VALS_OF(PROBLEM);
static const struct wr_vals wr_broken_sample_vals = WR_VALS_OF(
    PROBLEM, WR_VAL_IS(U64, sample), WR_VAL_IS(U64, offset));
#undef THIS

static json_t *issues_list(const void *of)
{
    const struct wr_inspect_report *r = of;
    json_t *list = json_array();
    const weir_issue *issue;

    for (uint64_t k = 0; (issue = weir_dataset_issue(r->ds, k)); k++)
        json_array_append_new(
            list, wr_vals_json(&wr_issue_vals, &(struct problem){*issue, 0, 0},
                               WR_FOR_RECORD));
    return list;
}

static json_t *broken_list(const void *of)
{
    const struct wr_inspect_report *r = of;
    json_t *list = json_array();
    char path[PATH_BYTES];

    for (size_t k = 0; k < r->scan.broken_kept; k++) {
        const struct wr_inspect_broken *b = &r->scan.broken[k];
        struct wr_part p;

        wr_index_part(r->ds->index, 0, b->id, &p);
        wr_index_object_path(r->ds->index, p.object, path, sizeof(path));
        json_array_append_new(
            list, wr_vals_json(&wr_broken_sample_vals,
                               &(struct problem){
                                   {path, b->reason, b->code}, b->id, p.offset},
                               WR_FOR_RECORD));
    }
    return list;
}

#define THIS struct wr_inspect_report
static const struct wr_vals wr_ignored_vals = WR_VALS_OF(
    WR_VAL_OF(U64, "count", ignored),
    WR_VAL_BY(LIST(extension), "list", .json = ignored_list));

static const struct wr_vals wr_issues_vals = WR_VALS_OF(
    WR_VAL_OF(U64, "count", issues),
    WR_VAL_BY(LIST(issue), "list", .json = issues_list),
    WR_VAL_OF(U64, "more", issues_more, .flags = WR_VAL_INSIDE));

static const struct wr_vals wr_broken_vals = WR_VALS_OF(
    WR_VAL_OF(U64, "examined", scan.count), WR_VAL_IS(TEXT, picked),
    WR_VAL_IS(FLAG, verified), WR_VAL_OF(U64, "count", scan.broken_count),
    WR_VAL_BY(LIST(broken_sample), "list", .json = broken_list),
    WR_VAL_OF(U64, "more", broken_more, .flags = WR_VAL_INSIDE));

/* --- all of it --- */

static const struct wr_vals wr_index_vals = WR_VALS_OF(
    WR_VAL_OF(U64, "memory_bytes", index_memory),
    WR_VAL_OF(REAL, "bytes_per_sample", index_per_sample),
    WR_VAL_OF(REAL, "seconds", index_seconds),
    WR_VAL_OF(TRUTH, "reused", index_reused,
              .help = "opened from an index file"),
    WR_VAL_OF(TEXT, "file", index_file, .flags = WR_VAL_NULL));

static const struct wr_vals inspect_vals = WR_VALS_OF(
    WR_VAL_OF(TEXT, "dataset", url), WR_VAL_IS(TEXT, format),
    WR_VAL_OF(U64, "samples", stats.count),
    WR_VAL_IS(U64, objects, .help = "files that hold them"),
    WR_VAL_BY(GROUP(shape), "shape", .json = shape_json, .flags = WR_VAL_NULL),
    WR_VAL_BY(LIST(field), "fields", .json = fields_json),
    WR_VAL_BY(LIST(chunk), "chunks", .json = chunks_json),
    WR_VAL_OF(GROUP(sizes), "sizes_bytes", stats),
    WR_VAL_ALL(GROUP(classes), "classes"), WR_VAL_ALL(GROUP(index), "index"),
    WR_VAL_BY(GROUP(pictures), "pictures", .json = pictures_json,
              .flags = WR_VAL_NULL),
    WR_VAL_BY(JSON, "remarks", .json = remarks_json),
    WR_VAL_ALL(GROUP(ignored), "ignored"), WR_VAL_IS(U64, links),
    WR_VAL_ALL(GROUP(issues), "issues"), WR_VAL_ALL(GROUP(broken), "broken"),
    WR_VAL_BY(JSON, "shown_shape", .json = shape_text, .flags = WR_VAL_INSIDE),
    WR_VAL_BY(LIST(field), "shown_fields", .json = fields_shown,
              .flags = WR_VAL_INSIDE),
    WR_VAL_BY(LIST(chunk), "shown_chunks", .json = chunks_shown,
              .flags = WR_VAL_INSIDE),
    WR_VAL_BY(JSON, "bars", .json = bars_json, .flags = WR_VAL_INSIDE),
    WR_VAL_BY(JSON, "shown_dims", .json = dims_shown, .flags = WR_VAL_INSIDE),
    WR_VAL_BY(JSON, "kinds", .json = kinds_shown, .flags = WR_VAL_INSIDE),
    WR_VAL_OF(COUNT, "other_dims", pictures.others, .flags = WR_VAL_INSIDE),
    WR_VAL_IS(FLAG, even, .flags = WR_VAL_INSIDE),
    WR_VAL_IS(FLAG, one_size, .flags = WR_VAL_INSIDE),
    WR_VAL_OF(FLAG, "in_samples", scan.has_labels, .flags = WR_VAL_INSIDE));
#undef THIS

static const struct wr_column bar_columns[] = {
    {.head = "", .side = '>', .say = "{from:bytes} [- {to:bytes}|or more]"},
    {.head = "", .side = '<', .say = "[{bar} ]{count:number} ({share:1} %)"},
    {.head = NULL}};

static const struct wr_column class_columns[] = {
    WR_SAY_COLUMN('>', "label", "{label}", "number of the class"),
    WR_SAY_COLUMN('>', "samples", "{samples:number}",
                  "samples with this label"),
    WR_SAY_COLUMN('<', "class", "[{name}]", "its name, if it has one"),
    {.head = NULL}};

const struct wr_columns wr_inspect_columns[] = {
    {"of --list-classes", class_columns}, {NULL, NULL}};

#define CLASS(which)                                                           \
    "{classes." which ".samples:number} ({classes." which                      \
    ".name?'{classes." which ".name}'|label {classes." which ".label}})"

#define NO_LABEL                                                               \
    "[{?classes.count>0}{?classes.unlabelled_samples>0}; "                     \
    "{classes.unlabelled_samples:number} samples have no label]"

static const struct wr_answer_part screen[] = {
    {.section = "{dataset}: {format}"},
    {.fact = "samples",
     .say = "{samples:number} in {objects:number} file{objects:plural}"},
    {.fact = "fields",
     .each = "shown_fields",
     .say = "{name}: {text}{label?, the label}{extra?, if it is asked for}"},
    {.fact = "chunks",
     .each = "shown_chunks",
     .say = "{field}: {text}; a sample touches {touched_per_sample}, "
            "{bytes_per_sample:bytes}, {amplification:1} times its bytes"},
    {.fact = "shape", .say = "[{shown_shape}]"},
    {.fact = "classes",
     .say = "[{?classes.count>0}{classes.count:number}|{classes.none}]"
            "{in_samples? (labels of {broken.picked=all?all "
            "{broken.examined:number} samples|the {broken.examined:number} "
            "samples checked})}[{?classes.largest}, {even?each of "
            "{classes.largest.samples:number} "
            "sample{classes.largest.samples:plural}|the smallest of " CLASS(
                "smallest") ", the largest of " CLASS("largest") "}]" NO_LABEL},
    {.fact = "bytes", .say = "{sizes_bytes.total:bytes}"},
    {.fact = "sizes",
     .say = "{one_size?all {sizes_bytes.min:bytes}|min "
            "{sizes_bytes.min:bytes}, median {sizes_bytes.median:bytes}, mean "
            "{sizes_bytes.mean:bytes}, p90 {sizes_bytes.p90:bytes}, p99 "
            "{sizes_bytes.p99:bytes}, max {sizes_bytes.max:bytes}}"},
    {.fact = "links",
     .say = "[{?links>0}{links:number} symbolic link{links:plural} followed, "
            "wherever {links=1?it leads|they lead}; --no-links refuses them]"},
    {.fact = "index",
     .say = "{index.memory_bytes:bytes} of memory, {index.bytes_per_sample:1} "
            "bytes per sample, {index.file?reused from {index.file}|built} in "
            "{index.seconds:3} s"},
    {.fact = "remark", .each = "remarks", .say = "{}", .warns = true},
    {.section = "Samples by size"},
    {.each = "bars", .table = bar_columns},
    {.section = "Classes"},
    {.each = "classes.list", .table = class_columns},
    {.section =
         "Pictures ({broken.verified?decoded:|headers of} "
         "{broken.picked=all?all |{broken.picked=first?the first }}"
         "{broken.examined:number}{broken.picked=first?; gzip is read in "
         "order})"},
    {.fact = "dimensions",
     .say = "[{shown_dims}][{?other_dims>0}; {other_dims:number} others]"},
    {.fact = "widths",
     .say =
         "[{?pictures.readable>0}{pictures.width.min} to {pictures.width.max}, "
         "heights {pictures.height.min} to {pictures.height.max}]"},
    {.fact = "formats", .say = "[{kinds}]"},
    {.fact = "colours",
     .say =
         "[{?pictures.readable>0}gray {pictures.gray:number}, RGB "
         "{pictures.rgb:number}, CMYK or RGBA {pictures.cmyk_or_rgba:number}]"},
    {.fact = "turned",
     .say = "[{?pictures.not_upright>0}{pictures.not_upright:number} that EXIF "
            "says are not upright: --orient exif turns them]"},
    {.fact = "misnamed",
     .say = "[{?pictures.misnamed>0}{pictures.misnamed:number} with an "
            "extension of another format]"},
    {.section = "Problems while indexing: {issues.count:number}"},
    {.each = "issues.list", .say = "'{name}': {reason}"},
    {.say = "[{?issues.more>0}... and {issues.more:number} more]"},
    {.section = ""},
    {.say = "[{?broken.examined>0}{?broken.count=0}None of "
            "{broken.examined:number} samples is broken{broken.verified?.|, as "
            "far as their headers tell.}]"},
    {.section =
         "Broken samples: {broken.count:number} of {broken.examined:number}"},
    {.each = "broken.list", .say = "'{name}': {reason}"},
    {.say = "[{?broken.more>0}... and {broken.more:number} more]"},
    {.say = NULL}};

const struct wr_answer wr_answer_inspect = {
    .name = "inspect",
    .of = &inspect_vals,
    .screen = screen,
    .exact = true,
};
