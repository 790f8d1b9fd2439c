/* parts.c - parts that the records of measurements have in common.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/parts.h"

#include <math.h>

#include "base/mem.h"
#include "format/format.h"
#include "monitor/host.h"
#include "result/record.h"

struct wr_cores_values wr_cores_values(const struct wr_cores_use *u,
                                       bool starved)
{
    struct wr_cores_values v;

    wr_vals_clear(&wr_cores_vals, &v);
    if (u->known)
        v = (struct wr_cores_values){.count = u->count,
                                     .own = u->own,
                                     .others = u->others,
                                     .idle = u->idle,
                                     .stolen = u->stolen,
                                     .throttled = u->throttled,
                                     .starved = starved};
    return v;
}

struct wr_cores_use wr_cores_use_of(const struct wr_cores_values *v)
{
    return (struct wr_cores_use){.known = isfinite(v->count),
                                 .count = v->count,
                                 .own = v->own,
                                 .others = v->others,
                                 .idle = v->idle,
                                 .stolen = v->stolen,
                                 .throttled = v->throttled};
}

json_t *wr_cores_json(const struct wr_cores_use *u, bool starved)
{
    const struct wr_cores_values v = wr_cores_values(u, starved);

    return wr_vals_json(&wr_cores_vals, &v, WR_FOR_RECORD);
}

struct wr_accelerator_values
wr_accelerator_values(const struct wr_accelerator *a, uint32_t batch)
{
    bool emulated = a->kind == WR_ACCELERATOR_EMULATED;

    return (struct wr_accelerator_values){
        .name = *a->name ? a->name : "none",
        .step_ms = wr_accelerator_step_ms(a, batch),
        .source = a->source,
        .fixed_ms = emulated ? a->fixed_ms : NAN,
        .per_sample_ms = emulated ? a->per_sample_ms : NAN};
}

json_t *wr_host_json(const char *path)
{
    struct wr_host h;
    struct wr_host_fs fs;
    struct wr_host_values v;

    wr_host_info(&h);
    wr_vals_clear(&wr_host_vals, &v);
    v.name = h.name;
    v.kernel = h.kernel;
    v.cpu = h.cpu;
    v.cores = h.cores;
    v.memory_bytes = (double)h.memory_bytes;
    if (path && wr_host_fs_of(path, &fs, NULL) == 0)
        v.file_system = (struct wr_file_system_values){
            .type = fs.type,
            .source = fs.source,
            .device = fs.device,
            .model = fs.model,
            .rotational = fs.rotational};
    return wr_vals_json(&wr_host_vals, &v, WR_FOR_RECORD);
}

json_t *wr_host_json_of(struct wr_store *st)
{
    char path[4096];

    return wr_host_json(st->ops->local_path &&
                                st->ops->local_path(st, "", path, sizeof(path))
                            ? path
                            : NULL);
}

static json_t *number_json(double x, unsigned decimals)
{
    static const double scales[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};
    double scale = scales[decimals];

    if (!isfinite(x))
        return json_null();
    x = round(x * scale);
    /* What has no fraction is shorter without a point. */
    if (fmod(x, scale) == 0 && fabs(x / scale) < 1e15)
        return json_integer((json_int_t)(x / scale));
    return json_real(x / scale);
}

json_t *wr_series_json(const struct wr_series *s, int column, unsigned decimals)
{
    json_t *list = json_array();
    size_t rows = wr_series_rows(s);

    for (size_t i = 0; i < rows; i++)
        if (json_array_append_new(
                list,
                number_json(column < 0 ? s->t[i]
                                       : wr_series_value(s, i, (size_t)column),
                            decimals)) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* Stored samples by powers of two; those of 0 bytes come first. */
static bool fill_sizes(const weir_dataset *ds, struct wr_list *to)
{
    struct {
        uint64_t count, bytes;
    } bins[65] = {0};
    struct wr_sizes_values *v = wr_list_new(&wr_sizes_vals, to, 65);

    for (uint64_t i = 0; i < wr_index_count(ds->index); i++) {
        struct wr_part p;
        unsigned k;

        wr_index_part(ds->index, 0, i, &p);
        k = p.length ? 64 - (unsigned)__builtin_clzll(p.length) : 0;
        bins[k].count++;
        bins[k].bytes += p.length;
    }
    to->count = 0;
    for (unsigned k = 0; v && k < 65; k++)
        if (bins[k].count)
            v[to->count++] = (struct wr_sizes_values){
                .from = k ? ldexp(1, (int)k - 1) : 0,
                .to = ldexp(1, (int)WR_MIN(k, 62u)),
                .count = (double)bins[k].count,
                .bytes = (double)bins[k].bytes};
    return v;
}

json_t *wr_dataset_json(const weir_dataset *ds)
{
    struct wr_dataset_values v = {
        .url = ds->url,
        .format = ds->format->name,
        .samples = (double)wr_index_count(ds->index),
        .bytes = (double)wr_index_bytes(ds->index),
        .files = (double)wr_index_object_count(ds->index),
        .classes = (double)wr_index_class_count(ds->index),
        .index_problems = (double)wr_index_issue_count(ds->index),
        .ignored_files = (double)weir_dataset_ignored_count(ds)};
    bool whole = fill_sizes(ds, &v.sizes);

    return wr_vals_give(&wr_dataset_vals, &v, whole);
}

struct wr_input_values wr_input_values(const weir_stats *s)
{
    return (struct wr_input_values){
        .storage_wait_s = (double)s->storage_wait_ns / 1e9,
        .submit_s = (double)s->submit_ns / 1e9,
        .decode_s = (double)s->decode_ns / 1e9,
        .resample_s = (double)s->resample_ns / 1e9,
        .idle_s = (double)s->idle_ns / 1e9,
        .consumer_wait_s = (double)s->consumer_wait_ns / 1e9,
        .consumer_busy_s = (double)s->consumer_busy_ns / 1e9};
}

json_t *wr_bad_json(const weir_bad_sample *bad, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++) {
        const struct wr_bad_values v = {.sample = (double)bad[i].id,
                                        .error = weir_error_name(bad[i].code),
                                        .text = bad[i].text};

        json_array_append_new(list,
                              wr_vals_json(&wr_bad_vals, &v, WR_FOR_RECORD));
    }
    return list;
}

void wr_setting_json(json_t *to, const struct wr_setting *s,
                     const weir_pipeline_config *cfg)
{
    const void *at = wr_setting_at(s, cfg);
    char text[4096];
    json_t *value;

    if (!(s->flags & WR_SET_RECORD) ||
        (at == &cfg->cache_what && !cfg->cache) ||
        (s->value.type == WR_VALUE_TEXT && !*(const char *const *)at))
        return;
    wr_value_text(&s->value, at, text, sizeof(text));
    switch (s->value.type) {
    case WR_VALUE_YES:
        value = json_boolean(*(const int *)at);
        break;
    case WR_VALUE_U32:
        value = *text == 'a' ? json_string(text)
                             : json_integer(*(const uint32_t *)at);
        break;
    case WR_VALUE_U64:
        value = json_integer((json_int_t) * (const uint64_t *)at);
        break;
    case WR_VALUE_FLOATS:
        value = json_real((double)*(const float *)at);
        break;
    default:
        value = wr_text_json(text);
    }
    json_object_set_new(to, s->name, value);
}

const char *wr_verdict_name(enum weir_verdict v)
{
    static const char *const names[] = {
        [WEIR_VERDICT_NONE] = "unknown",
        [WEIR_VERDICT_STORAGE] = "storage-bound",
        [WEIR_VERDICT_DECODE] = "decode-bound",
        [WEIR_VERDICT_CONSUMER] = "consumer-bound",
        [WEIR_VERDICT_CONVERT] = "convert-bound",
    };

    return names[v];
}
