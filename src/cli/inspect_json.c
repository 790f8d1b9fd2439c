/* inspect_json.c - what weir inspect found out, as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/inspect_json.h"

#include <jansson.h>
#include <string.h>

#include "base/ascii.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/text.h"
#include "codec/filters.h"
#include "format/chunks.h"
#include "format/remarks.h"
#include "result/record.h"

#define NAME_BYTES 8192u

/* A value that could not be made is left out, and that is said. */
static void set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) < 0)
        json_object_set_new(object, "incomplete", json_true());
}

static json_t *number(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *text(const char *s)
{
    char shown[NAME_BYTES];

    if (!s)
        return json_null();
    return json_string(wr_text_show(s, false, shown, sizeof(shown)));
}

static json_t *class_json(const struct wr_inspect_report *r, uint32_t label,
                          uint64_t samples)
{
    json_t *o = json_object();

    set(o, "label", number(label));
    set(o, "name", text(weir_dataset_class_name(r->ds, label)));
    set(o, "samples", number(samples));
    return o;
}

static json_t *index_class_json(const struct wr_inspect_report *r,
                                uint32_t label)
{
    return class_json(r, label, r->stats.class_samples[label]);
}

static json_t *found_class_json(const struct wr_inspect_report *r, size_t k)
{
    const struct wr_inspect_class *c = &r->scan.labels.list[k];

    return class_json(r, c->label, c->samples);
}

/* The labels lie in the samples: as far as those were looked at. */
static json_t *labels_json(const struct wr_inspect_report *r)
{
    const struct wr_inspect_labels *l = &r->scan.labels;
    json_t *o = json_object(), *list = json_array();

    set(o, "count", number(l->count));
    set(o, "samples_looked_at", number(r->scan.count));
    set(o, "unlabelled_samples", number(l->unlabelled));
    if (l->count) {
        set(o, "smallest", found_class_json(r, l->smallest));
        set(o, "largest", found_class_json(r, l->largest));
    }
    for (size_t k = 0; k < l->count; k++)
        json_array_append_new(list, found_class_json(r, k));
    set(o, "list", list);
    return o;
}

static json_t *classes_json(const struct wr_inspect_report *r)
{
    const struct wr_inspect_stats *s = &r->stats;
    json_t *o, *list;

    if (r->scan.has_labels)
        return labels_json(r);
    o = json_object();
    list = json_array();
    set(o, "count", number(s->classes));
    set(o, "samples_looked_at", number(s->count));
    set(o, "unlabelled_samples", number(s->unlabelled));
    if (s->class_samples) {
        set(o, "smallest", index_class_json(r, s->smallest));
        set(o, "largest", index_class_json(r, s->largest));
    }
    for (uint32_t c = 0; s->class_samples && c < s->classes; c++)
        json_array_append_new(list, index_class_json(r, c));
    set(o, "list", list);
    return o;
}

static json_t *sizes_json(const struct wr_inspect_stats *s)
{
    json_t *o = json_object(), *bins = json_array();

    set(o, "total", number(s->bytes));
    set(o, "min", number(s->min));
    set(o, "median", number(s->median));
    set(o, "mean", json_real(s->mean));
    set(o, "p90", number(s->p90));
    set(o, "p99", number(s->p99));
    set(o, "max", number(s->max));
    for (unsigned k = 0; k < s->bins; k++) {
        json_t *bin = json_object();

        set(bin, "from", number(s->bin[k].from));
        set(bin, "to", s->bin[k].to ? number(s->bin[k].to) : json_null());
        set(bin, "count", number(s->bin[k].count));
        json_array_append_new(bins, bin);
    }
    set(o, "histogram", bins);
    return o;
}

static json_t *index_json(const struct wr_inspect_report *r)
{
    size_t memory = wr_index_memory(r->ds->index);
    json_t *o = json_object();

    set(o, "memory_bytes", number(memory));
    set(o, "bytes_per_sample",
        json_real((double)memory / (double)r->stats.count));
    set(o, "seconds", json_real(r->index_seconds));
    set(o, "reused", json_boolean(weir_dataset_index_reused(r->ds)));
    set(o, "file", text(wr_index_file(r->ds->index)));
    return o;
}

static json_t *shape_json(const weir_field *s)
{
    json_t *o, *dims;

    if (!s || !wr_field_bytes(s))
        return json_null();
    o = json_object();
    dims = json_array();
    for (uint32_t k = 0; k < s->ndim; k++)
        json_array_append_new(dims, number(s->dims[k]));
    set(o, "dtype", text(wr_dtype_text(s->dtype)));
    set(o, "dims", dims);
    return o;
}

static json_t *field_json(const weir_field *f)
{
    json_t *o = json_object(), *dims = json_array();

    for (uint32_t k = 0; k < f->ndim; k++)
        json_array_append_new(dims, f->dims[k] == WEIR_DIM_VARIES
                                        ? json_null()
                                        : number(f->dims[k]));
    set(o, "name", text(f->name));
    set(o, "kind", text(wr_field_kind_name(f->kind)));
    set(o, "dtype", text(wr_dtype_text(f->dtype)));
    set(o, "dims", dims);
    set(o, "label", json_boolean(f->is_label));
    set(o, "extra", json_boolean(f->is_extra));
    return o;
}

static json_t *fields_json(const weir_dataset *ds)
{
    json_t *list = json_array();
    uint32_t count;
    const weir_field *f = weir_dataset_fields(ds, &count);

    for (uint32_t k = 0; k < count; k++)
        json_array_append_new(list, field_json(&f[k]));
    return list;
}

static json_t *dims_json(const struct wr_inspect_scan *s, json_t *pictures)
{
    struct wr_inspect_dim top[WR_INSPECT_TOP_DIMS];
    int64_t distinct = wr_inspect_dims(s->found, s->count, top);
    json_t *list = json_array();

    set(pictures, "distinct_dimensions",
        distinct < 0 ? json_null() : json_integer(distinct));
    for (unsigned k = 0;
         distinct > 0 && k < WR_INSPECT_TOP_DIMS && top[k].count; k++) {
        json_t *o = json_object();

        set(o, "width", number(top[k].width));
        set(o, "height", number(top[k].height));
        set(o, "count", number(top[k].count));
        json_array_append_new(list, o);
    }
    return list;
}

/* "jpeg", "png": the kind's name in small letters. */
static const char *kind_key(enum wr_picture_kind kind, char *buf, size_t cap)
{
    snprintf(buf, cap, "%s", wr_picture_kind_name(kind));
    for (char *p = buf; *p; p++)
        *p = wr_lower(*p);
    return buf;
}

static json_t *pictures_json(const struct wr_inspect_report *r)
{
    struct wr_inspect_pictures p;
    char key[16];
    json_t *o;

    if (!r->scan.count || !wr_index_has_pictures(r->ds->index))
        return json_null();
    o = json_object();
    wr_inspect_count_pictures(&r->scan, &p);
    set(o, "readable", number(p.good));
    for (int k = 1; k < WR_PICTURE_KINDS; k++)
        set(o, kind_key(k, key, sizeof(key)), number(p.of_kind[k]));
    set(o, "gray", number(p.gray));
    set(o, "rgb", number(p.colour));
    set(o, "cmyk_or_rgba", number(p.four));
    set(o, "not_upright", number(p.turned));
    set(o, "misnamed", number(r->scan.misnamed));
    set(o, "dimensions", dims_json(&r->scan, o));
    if (p.good) {
        set(o, "width",
            json_pack("{s:I,s:I}", "min", (json_int_t)p.min_width, "max",
                      (json_int_t)p.max_width));
        set(o, "height",
            json_pack("{s:I,s:I}", "min", (json_int_t)p.min_height, "max",
                      (json_int_t)p.max_height));
    }
    return o;
}

static json_t *problem_json(const char *name, int code, const char *reason)
{
    json_t *o = json_object();

    set(o, "name", text(name));
    set(o, "code", text(weir_error_name(code)));
    set(o, "reason", text(reason));
    return o;
}

static json_t *broken_json(const struct wr_inspect_report *r)
{
    const struct wr_inspect_scan *s = &r->scan;
    json_t *o = json_object(), *list = json_array();
    char path[NAME_BYTES];

    for (size_t k = 0; k < s->broken_kept; k++) {
        struct wr_part p;
        json_t *entry;

        wr_index_part(r->ds->index, 0, s->broken[k].id, &p);
        wr_index_object_path(r->ds->index, p.object, path, sizeof(path));
        entry = problem_json(path, s->broken[k].code, s->broken[k].reason);
        set(entry, "sample", number(s->broken[k].id));
        set(entry, "offset", number(p.offset));
        json_array_append_new(list, entry);
    }
    set(o, "examined", number(s->count));
    set(o, "picked", text(s->all ? "all" : s->first ? "first" : "random"));
    set(o, "verified", json_boolean(r->verified));
    set(o, "count", number(s->broken_count));
    set(o, "list", list);
    return o;
}

static json_t *issues_json(const weir_dataset *ds)
{
    json_t *o = json_object(), *list = json_array();
    const weir_issue *issue;

    for (uint64_t k = 0; (issue = weir_dataset_issue(ds, k)); k++)
        json_array_append_new(
            list, problem_json(issue->name, issue->code, issue->reason));
    set(o, "count", number(weir_dataset_issue_count(ds)));
    set(o, "list", list);
    return o;
}

static json_t *ignored_json(const weir_dataset *ds)
{
    json_t *o = json_object(), *list = json_array();
    const char *ext;
    uint64_t files;

    for (uint32_t k = 0; (ext = weir_dataset_ignored(ds, k, &files)); k++) {
        json_t *entry = json_object();

        set(entry, "extension", text(ext));
        set(entry, "files", number(files));
        json_array_append_new(list, entry);
    }
    set(o, "count", number(weir_dataset_ignored_count(ds)));
    set(o, "list", list);
    return o;
}

static json_t *chunks_json(const weir_dataset *ds)
{
    const struct wr_schema *s = wr_index_schema(ds->index);
    json_t *list = json_array();
    struct wr_chunks c;

    for (unsigned k = 0; k < s->count; k++) {
        json_t *entry, *dims, *filters;

        if (!wr_chunks_of(ds->index, k, &c))
            continue;
        entry = json_object();
        dims = json_array();
        filters = json_array();
        for (uint32_t d = 0; d < c.ndim; d++)
            json_array_append_new(dims, number(c.dims[d]));
        for (unsigned f = 4; f-- > 0;)
            if (c.filters >> 8 * f & 0xff)
                json_array_append_new(
                    filters, text(wr_filter_name(c.filters >> 8 * f & 0xff)));
        set(entry, "field", text(s->fields[k].name));
        set(entry, "dims", dims);
        set(entry, "filters", filters);
        set(entry, "touched_per_sample", number(c.touched));
        set(entry, "bytes_per_sample", number(c.unpacked));
        set(entry, "amplification", json_real(c.amplification));
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *remarks_json(const struct wr_inspect_report *r)
{
    char remark[WR_REMARK_BYTES];
    json_t *list = json_array();

    for (unsigned k = 0; wr_inspect_remark_at(r, k, remark, sizeof(remark));
         k++)
        json_array_append_new(list, text(remark));
    return list;
}

int wr_inspect_print_json(const struct wr_cli *cli,
                          const struct wr_inspect_report *r, weir_err *err)
{
    json_t *o = json_object();
    int failed;

    set(o, "dataset", text(r->url));
    set(o, "format", text(weir_dataset_format(r->ds)));
    set(o, "samples", number(r->stats.count));
    set(o, "objects", number(wr_index_object_count(r->ds->index)));
    set(o, "shape", shape_json(wr_index_tensor(r->ds->index)));
    set(o, "fields", fields_json(r->ds));
    set(o, "chunks", chunks_json(r->ds));
    set(o, "sizes_bytes", sizes_json(&r->stats));
    set(o, "classes", classes_json(r));
    set(o, "index", index_json(r));
    set(o, "pictures", pictures_json(r));
    set(o, "remarks", remarks_json(r));
    set(o, "ignored", ignored_json(r->ds));
    set(o, "links", number(weir_dataset_link_count(r->ds)));
    set(o, "issues", issues_json(r->ds));
    set(o, "broken", broken_json(r));
    failed = wr_record_dump(o, JSON_INDENT(2) | JSON_PRESERVE_ORDER, cli->out);
    json_decref(o);
    if (failed)
        return wr_fail(err, WEIR_ENOMEM, "cannot write JSON");
    wr_cli_put(cli, "\n");
    return 0;
}
