/* report_trace.c - weir report of a trace.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/report_trace.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/regular.h"
#include "cli/interrupt.h"
#include "trace/baseline.h"
#include "report/result.h"
#include "trace/coding.h"
#include "storage/beside.h"
#include "trace/export.h"
#include "trace/record.h"

struct trace_job {
    const char *path;
    int form;
    struct wr_doc_text_style style;
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

int wr_report_trace_text(const char *path, const json_t *probe,
                         struct wr_doc_text_style style, FILE *out,
                         weir_err *err)
{
    json_t *record = NULL;
    int r = wr_trace_record_load(path, probe, /* brief= */ true, &record, err);

    if (r == 0)
        r = wr_result_print(record, style, out, err);
    json_decref(record);
    return r;
}

static int print_trace(const void *arg, FILE *out, weir_err *err)
{
    static int (*const exports[])(struct wr_trace_file *, FILE *,
                                  weir_err *) = {
        [WR_TRACE_FORM_CSV] = wr_trace_export_csv,
        [WR_TRACE_FORM_CHROME] = wr_trace_export_chrome,
        [WR_TRACE_FORM_DARSHAN] = wr_trace_export_darshan};
    const struct trace_job *job = arg;
    struct wr_trace_file *f = NULL;
    int r;

    if (job->form == WR_TRACE_FORM_TEXT)
        return wr_report_trace_text(job->path, job->probe, job->style, out,
                                    err);
    r = wr_trace_file_open(&f, job->path, err);
    if (r == 0)
        r = exports[job->form](f, out, err);
    wr_trace_file_close(f);
    return r;
}

int wr_report_trace(const struct wr_cli *cli, const char *path, int form,
                    const char *output, const json_t *probe)
{
    bool to_stdout = !output || !strcmp(output, "-");
    const struct trace_job job = {
        .path = path,
        .form = form,
        .probe = probe,
        .style = {.width = to_stdout ? cli->width : 80,
                  .utf8 = cli->utf8,
                  .colour = to_stdout && cli->color,
                  .whole = !to_stdout || !isatty(fileno(cli->out))}};
    weir_err err;
    int r;

    if (to_stdout)
        r = print_trace(&job, cli->out, &err);
    else
        r = wr_whole_write(output,
                           &(struct wr_whole){.print = print_trace,
                                              .arg = &job,
                                              .stopped = wr_interrupted,
                                              .private = true},
                           &err);
    return r < 0 ? wr_cli_fail(cli, "%s", err.msg) : WR_EXIT_DONE;
}
