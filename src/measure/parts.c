/* parts.c - parts that the records of measurements have in common.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/parts.h"

#include <math.h>

#include "base/mem.h"
#include "format/format.h"
#include "monitor/host.h"
#include "result/record.h"

void wr_put_real(json_t *to, const char *key, double value)
{
    if (isfinite(value))
        json_object_set_new(to, key, json_real(value));
}

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

json_t *wr_host_json(const char *path)
{
    struct wr_host h;
    struct wr_host_fs fs;
    json_t *j;

    wr_host_info(&h);
    j = json_pack("{s:s, s:s, s:s, s:i, s:I}", "name", h.name, "kernel",
                  h.kernel, "cpu", h.cpu, "cores", (int)h.cores, "memory_bytes",
                  (json_int_t)h.memory_bytes);
    if (j && path && wr_host_fs_of(path, &fs, NULL) == 0)
        json_object_set_new(j, "file_system",
                            json_pack("{s:s, s:s, s:s, s:s, s:i}", "type",
                                      fs.type, "source", fs.source, "device",
                                      fs.device, "model", fs.model,
                                      "rotational", fs.rotational));
    return j;
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
static json_t *sizes_json(const weir_dataset *ds)
{
    struct {
        uint64_t count, bytes;
    } bins[65] = {0};
    json_t *list = json_array();

    for (uint64_t i = 0; i < wr_index_count(ds->index); i++) {
        struct wr_part p;
        unsigned k;

        wr_index_part(ds->index, 0, i, &p);
        k = p.length ? 64 - (unsigned)__builtin_clzll(p.length) : 0;
        bins[k].count++;
        bins[k].bytes += p.length;
    }
    for (unsigned k = 0; k < 65; k++)
        if (bins[k].count)
            json_array_append_new(
                list, json_pack("{s:I, s:I, s:I, s:I}", "from",
                                k ? (json_int_t)1 << (k - 1) : 0, "to",
                                (json_int_t)1 << WR_MIN(k, 62u), "count",
                                (json_int_t)bins[k].count, "bytes",
                                (json_int_t)bins[k].bytes));
    return list;
}

json_t *wr_dataset_json(const weir_dataset *ds)
{
    return json_pack(
        "{s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "url",
        wr_text_json(ds->url), "format", ds->format->name, "samples",
        (json_int_t)wr_index_count(ds->index), "bytes",
        (json_int_t)wr_index_bytes(ds->index), "files",
        (json_int_t)wr_index_object_count(ds->index), "classes",
        (json_int_t)wr_index_class_count(ds->index), "index_problems",
        (json_int_t)wr_index_issue_count(ds->index), "ignored_files",
        (json_int_t)weir_dataset_ignored_count(ds), "sizes", sizes_json(ds));
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

json_t *wr_input_json(const weir_stats *s)
{
    const struct wr_input_values v = wr_input_values(s);

    return wr_vals_json(&wr_input_vals, &v, WR_FOR_RECORD);
}

json_t *wr_bad_json(const weir_bad_sample *bad, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            list, json_pack("{s:I, s:s, s:o}", "sample", (json_int_t)bad[i].id,
                            "error", weir_error_name(bad[i].code), "text",
                            wr_text_json(bad[i].text)));
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
