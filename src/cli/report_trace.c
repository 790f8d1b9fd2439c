/* report_trace.c - weir report of a trace.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/report_trace.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/regular.h"
#include "cli/interrupt.h"
#include "trace/baseline.h"
#include "trace/coding.h"
#include "storage/beside.h"
#include "trace/export.h"
#include "trace/report.h"

struct trace_job {
    struct wr_trace_file *f;
    int form;
    struct wr_trace_report_style style;
    const json_t *probe;
};

bool wr_report_is_trace(const char *path)
{
    int fd = wr_regular_open(AT_FDCWD, path, O_RDONLY, 0);
    char head[8];
    bool is;

    if (fd < 0)
        return false;
    is = read(fd, head, sizeof(head)) == sizeof(head) &&
         !memcmp(head, WR_TRACE_MAGIC, sizeof(head));
    close(fd);
    return is;
}

static int print_text(const struct trace_job *job, FILE *out, weir_err *err)
{
    struct wr_trace_analysis *a = NULL;
    struct wr_trace_findings found = {0};
    int r = wr_trace_analyse(job->f, &a, err);

    if (r == 0)
        r = wr_trace_judge(a, job->probe, &found, err);
    if (r == 0)
        wr_trace_report(a, &found, job->style, out);
    wr_trace_findings_done(&found);
    wr_trace_analysis_free(a);
    return r;
}

static int print_trace(const void *arg, FILE *out, weir_err *err)
{
    const struct trace_job *job = arg;

    switch (job->form) {
    case WR_TRACE_FORM_CSV:
        return wr_trace_export_csv(job->f, out, err);
    case WR_TRACE_FORM_CHROME:
        return wr_trace_export_chrome(job->f, out, err);
    case WR_TRACE_FORM_DARSHAN:
        return wr_trace_export_darshan(job->f, out, err);
    default:
        return print_text(job, out, err);
    }
}

int wr_report_trace(const struct wr_cli *cli, const char *path, int form,
                    const char *output, const json_t *probe)
{
    bool to_stdout = !output || !strcmp(output, "-");
    struct trace_job job = {
        .form = form,
        .probe = probe,
        .style = {.width = to_stdout ? cli->width : 80, .utf8 = cli->utf8}};
    weir_err err;
    int r = wr_trace_file_open(&job.f, path, &err);

    if (r == 0 && to_stdout)
        r = print_trace(&job, cli->out, &err);
    else if (r == 0)
        r = wr_whole_write(output,
                           &(struct wr_whole){.print = print_trace,
                                              .arg = &job,
                                              .stopped = wr_interrupted,
                                              .private = true},
                           &err);
    wr_trace_file_close(job.f);
    return r < 0 ? wr_cli_fail(cli, "%s", err.msg) : WR_EXIT_DONE;
}
