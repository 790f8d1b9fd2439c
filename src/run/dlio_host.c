/* dlio_host.c - what DLIO's files say about the machine.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/dlio_host.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/procfs.h"
#include "monitor/host.h"
#include "result/record.h"

#define TEXT_MAX ((size_t)1 << 20) /* of /proc/cpuinfo: hundreds of cores */

uint32_t wr_dlio_hosts(const struct wr_run_result *res)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < res->rank_count; i++) {
        uint32_t k = 0;

        while (k < i && strcmp(res->ranks[k].host, res->ranks[i].host))
            k++;
        count += k == i;
    }
    return WR_MAX(count, 1u);
}

/* A line without blanks and tabs around name and value. */
static void add_field(json_t *to, char *line)
{
    char *colon = strchr(line, ':'), *end, *value;

    if (!colon)
        return;
    for (end = colon; end > line && strchr(" \t", end[-1]); end--)
        ;
    *end = '\0';
    value = colon + 1 + strspn(colon + 1, " \t");
    json_object_set_new(to, line, wr_text_json(value));
}

json_t *wr_dlio_fields(const char *text)
{
    json_t *to = json_object();
    char *copy = strdup(text), *rest = copy, *line;

    while (copy && (line = strsep(&rest, "\n"))) {
        if (*line)
            add_field(to, line);
        else if (rest && *rest) /* another paragraph */
            json_object_clear(to);
    }
    free(copy);
    return to;
}

static json_t *fields_of(const char *path)
{
    char *text = malloc(TEXT_MAX);
    json_t *to = text && wr_procfs_read_path(path, text, TEXT_MAX) > 0
                     ? wr_dlio_fields(text)
                     : json_object();

    free(text);
    return to;
}

json_t *wr_dlio_meminfo(void)
{
    return fields_of("/proc/meminfo");
}

/* The number, or a list that has it for each host. */
static void put(json_t *to, const char *key, json_t *number, uint32_t hosts)
{
    json_t *list;

    if (!hosts) {
        json_object_set_new(to, key, number);
        return;
    }
    list = json_array();
    for (uint32_t i = 0; i < hosts; i++)
        json_array_append(list, number);
    json_decref(number);
    json_object_set_new(to, key, list);
}

void wr_dlio_put_host(json_t *to, const struct wr_dlio_source *src,
                      bool per_host)
{
    uint32_t hosts = wr_dlio_hosts(src->res);
    double data = (double)src->w->dataset.files_train *
                  (double)src->w->dataset.samples_per_file *
                  src->w->dataset.record_bytes / hosts;
    uint32_t copies = per_host ? hosts : 0;
    struct wr_host host;

    wr_host_info(&host);
    json_object_set_new(to, "hostname", wr_text_json(host.name));
    json_object_set_new(to, "host_processor_name", wr_text_json(host.cpu));
    json_object_set_new(to, "host_cpuinfo", fields_of("/proc/cpuinfo"));
    json_object_set_new(to, "host_meminfo", wr_dlio_meminfo());
    json_object_set_new(to, "data_size_per_host_GB",
                        json_real(data / WR_DLIO_GB));
    put(to, "host_cpu_count", json_integer(host.cores), copies);
    put(to, "host_memory_GB", json_real((double)host.memory_bytes / WR_DLIO_GB),
        copies);
    put(to, "potential_caching", json_integer((double)host.memory_bytes > data),
        copies);
}
