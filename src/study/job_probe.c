/* job_probe.c - sequential reads and writes of one big file, as IOR.
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/jobs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/mem.h"
#include "measure/probe.h"
#include "monitor/cores.h"
#include "study/folder.h"

#define BLOCK (UINT64_C(1) << 20)
#define DEPTH 8 /* enough for the bandwidth of each of the devices */

/* Past the page cache where that works, else through it and cold. */
static const struct wr_probe_test tests[] = {
    {WR_PROBE_READ, WR_PROBE_SEQUENTIAL, BLOCK, DEPTH, 1, .direct = true},
    {WR_PROBE_WRITE, WR_PROBE_SEQUENTIAL, BLOCK, DEPTH, 1, .direct = true},
    {WR_PROBE_READ, WR_PROBE_SEQUENTIAL, BLOCK, DEPTH, 1, .direct = false},
    {WR_PROBE_WRITE, WR_PROBE_SEQUENTIAL, BLOCK, DEPTH, 1, .direct = false},
};

static json_t *probe_json(const struct wr_probe_report *rep, bool direct,
                          bool starved)
{
    double read = rep->results[0].v.bytes_per_s;
    double write = rep->results[1].v.bytes_per_s;

    return json_pack("{s:f, s:f, s:f, s:f, s:b, s:i}", "value", read / 1e6,
                     "read", read / 1e6, "write", write / 1e6, "resident",
                     rep->cache.resident, "direct", (int)direct, "starved",
                     (int)starved);
}

static int probe_with(struct wr_probe_plan *plan, bool direct, json_t **ret,
                      weir_err *err)
{
    struct wr_probe_report rep = {0};
    struct wr_cores cores[2];
    struct wr_cores_use use;
    int r;

    plan->tests = direct ? &tests[0] : &tests[2];
    plan->test_count = 2;
    wr_cores_now(&cores[0]);
    r = wr_probe(plan, &rep, err);
    wr_cores_now(&cores[1]);
    wr_cores_between(&cores[0], &cores[1], &use);
    if (r < 0)
        return r;
    if (rep.results[0].skipped || rep.results[1].skipped) {
        r = 1;
    } else {
        *ret = probe_json(&rep, direct, wr_cores_is_starved(&use, 1));
        r = *ret ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    wr_probe_report_done(&rep);
    return r;
}

int wr_run_probe(const struct wr_study *st, const struct wr_cell *c,
                 json_t **ret, weir_err *err)
{
    char path[WR_FOLDER_PATH], below[80], url[WR_FOLDER_PATH + 64];
    struct wr_probe_plan plan = {
        .url = url,
        .file_bytes = c->job.bytes,
        .small_files = 1,
        .passes = 1,
        .seconds = c->job.seconds,
        .stopped = st->cfg.stopped,
    };
    int r;

    snprintf(below, sizeof(below), "data/probe-%s", c->job.device);
    wr_folder_path(st, below, path);
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return wr_fail_errno(err, errno, "'%s': cannot make the folder", path);
    wr_run_url(c->job.device, NULL, path, url, sizeof(url));
    wr_probe_mix_imagenet(&plan.mix);
    r = probe_with(&plan, /* direct= */ true, ret, err);
    if (r == 1)
        r = probe_with(&plan, /* direct= */ false, ret, err);
    if (r == 1)
        r = wr_fail(err, WEIR_ENOTSUP, "'%s' cannot be probed", url);
    return r;
}
