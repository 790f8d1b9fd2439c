/* monitor.c - what the machine did while something was measured.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/monitor.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "measure/parts.h"

int wr_monitor_start(struct wr_monitor *m, const struct wr_monitor_spec *spec,
                     weir_err *err)
{
    struct wr_store *st = spec->store;
    struct wr_sampler_config cfg = {.hz = spec->hz};
    char local[PATH_MAX];
    const char **paths;
    int r;

    *m = (struct wr_monitor){.hz = spec->hz, .start_ns = wr_clock_ns()};
    wr_cores_now(&m->from);
    if (spec->hz == 0)
        return 0;
    paths = calloc(spec->path_count + 1, sizeof(*paths));
    if (paths && st && st->ops->local_path &&
        st->ops->local_path(st, "", local, sizeof(local)))
        paths[cfg.path_count++] = local;
    for (size_t k = 0; paths && k < spec->path_count; k++)
        paths[cfg.path_count++] = spec->paths[k];
    cfg.paths = paths;
    r = wr_sampler_start(&cfg, &m->sampler, err);
    if (r == 0)
        m->start_ns = wr_sampler_start_ns(m->sampler);
    free(paths);
    return r;
}

void wr_monitor_stop(struct wr_monitor *m)
{
    struct wr_cores now;

    wr_sampler_stop(m->sampler);
    wr_cores_now(&now);
    wr_cores_between(&m->from, &now, &m->cores);
    m->starved = wr_cores_is_starved(&m->cores, 0);
}

void wr_monitor_free(struct wr_monitor *m)
{
    wr_sampler_free(m->sampler);
    m->sampler = NULL;
}

double wr_monitor_at(const struct wr_monitor *m, uint64_t clock_ns)
{
    return ((double)clock_ns - (double)m->start_ns) / 1e9;
}

/* --- the record --- */

/* Bytes have no fraction; of counts a second one digit is plenty. */
static unsigned decimals_of(const char *name)
{
    return strstr(name, "bytes") ? 0 : strstr(name, "_per_s") ? 1 : 4;
}

static void put_columns(json_t *to, const struct wr_series *s,
                        const char *const *names)
{
    json_object_set_new(to, "t_s", wr_series_json(s, -1, 3));
    for (size_t c = 0; c < s->columns; c++)
        json_object_set_new(to, names[c],
                            wr_series_json(s, (int)c, decimals_of(names[c])));
}

static json_t *sampler_json(const struct wr_monitor *m)
{
    const struct wr_series *s = wr_sampler_machine(m->sampler);
    struct wr_monitor_values v = {.hz = m->hz,
                                  .merged = (double)s->merge,
                                  .cpu_s = wr_sampler_cpu_s(m->sampler),
                                  .machine = json_object(),
                                  .disks = json_array()};

    put_columns(v.machine, s, wr_sampler_column_names);
    for (size_t k = 0; k < wr_sampler_disk_count(m->sampler); k++) {
        const struct wr_sampler_disk *d = wr_sampler_disk(m->sampler, k);
        json_t *j = json_pack("{s:s}", "name", d->name);

        put_columns(j, &d->series, wr_sampler_disk_column_names);
        json_array_append_new(v.disks, j);
    }
    return wr_vals_give(&wr_monitor_vals, &v, /* whole= */ true);
}

int wr_monitor_record(const struct wr_monitor *m, json_t *record)
{
    int bad = 0;

    if (m->cores.known)
        bad = json_object_set_new(record, "cores",
                                  wr_cores_json(&m->cores, m->starved));
    if (m->sampler)
        bad |= json_object_set_new(record, "monitor", sampler_json(m));
    return bad ? -1 : 0;
}
