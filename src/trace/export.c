/* export.c - the events of a trace as CSV, and for Chrome's and Perfetto's
 * viewers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/export.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

struct export_job {
    const struct wr_trace_file *f;
    FILE *out;
    bool begun;
};

static const char *path_of(const struct export_job *x, uint32_t file)
{
    return file == WR_TRACE_NO_FILE ? "" : wr_trace_file_name(x->f, file)->path;
}

/* Whatever a name has: in quotes, with quotes doubled, controls as \xNN, and a '
 * in front of what a spreadsheet would run. */
static void put_csv(FILE *out, const char *s)
{
    char shown[4096];

    wr_text_show(s, /* controls= */ true, shown, sizeof(shown));
    fputs(wr_text_is_formula(shown) ? "\"'" : "\"", out);
    for (const char *c = shown; *c; c++) {
        if (*c == '"')
            putc('"', out);
        putc(*c, out);
    }
    putc('"', out);
}

static void put_json(FILE *out, const char *s)
{
    char shown[4096], quoted[sizeof(shown) * WR_TEXT_ESCAPED];

    wr_text_show(s, /* controls= */ true, shown, sizeof(shown));
    putc('"', out);
    fwrite(quoted, 1,
           wr_text_escape(shown, strlen(shown), /* html= */ false, quoted),
           out);
    putc('"', out);
}

static void csv_event(const struct export_job *x,
                      const struct wr_trace_event *e)
{
    const struct wr_trace_process *p = wr_trace_file_process(x->f, e->process);

    fprintf(x->out,
            "%" PRIu64 ".%09" PRIu64 ",%" PRIu64 ",%d,%" PRIu32 ",%d,%s,",
            e->start_ns / 1000000000, e->start_ns % 1000000000, e->dur_ns,
            (int)p->pid, e->thread, (int)p->rank, wr_trace_op_name(e->op));
    put_csv(x->out, path_of(x, e->file));
    putc(',', x->out);
    put_csv(x->out, path_of(x, e->file2));
    if (e->offset == UINT64_MAX)
        fprintf(x->out, ",");
    else
        fprintf(x->out, ",%" PRIu64, e->offset);
    fprintf(x->out, ",%" PRIu64 ",%d,%u\n", e->bytes, (int)e->error, e->flags);
}

static int csv_events(void *arg, const struct wr_trace_event *e, size_t n)
{
    const struct export_job *x = arg;

    for (size_t k = 0; k < n; k++)
        csv_event(x, &e[k]);
    return ferror(x->out) ? WEIR_EIO : 0;
}

/* Callers see a failed write when they close the stream; the walk ends early. */
static int walked(struct export_job *x, int r, weir_err *err)
{
    if (ferror(x->out))
        return wr_fail(err, WEIR_EIO, "cannot write");
    return r;
}

int wr_trace_export_csv(struct wr_trace_file *f, FILE *out, weir_err *err)
{
    struct export_job x = {.f = f, .out = out};

    fprintf(out, "start_s,duration_ns,pid,tid,rank,call,file,file2,offset,"
                 "bytes,errno,flags\n");
    return walked(&x, wr_trace_file_walk(f, csv_events, &x, err), err);
}

static void chrome_event(struct export_job *x, const struct wr_trace_event *e)
{
    const struct wr_trace_process *p = wr_trace_file_process(x->f, e->process);

    fprintf(x->out,
            "%s\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%" PRIu64
            ".%03" PRIu64 ",\"dur\":%" PRIu64 ".%03" PRIu64
            ",\"pid\":%d,\"tid\":%" PRIu32 ",\"args\":{\"file\":",
            x->begun ? "," : "", wr_trace_op_name(e->op),
            wr_trace_class_name(wr_trace_op_class(e->op)), e->start_ns / 1000,
            e->start_ns % 1000, e->dur_ns / 1000, e->dur_ns % 1000, (int)p->pid,
            e->thread);
    put_json(x->out, path_of(x, e->file));
    fprintf(x->out, ",\"bytes\":%" PRIu64, e->bytes);
    if (e->offset != UINT64_MAX)
        fprintf(x->out, ",\"offset\":%" PRIu64, e->offset);
    if (e->error)
        fprintf(x->out, ",\"errno\":%d", (int)e->error);
    fprintf(x->out, "}}");
    x->begun = true;
}

static int chrome_events(void *arg, const struct wr_trace_event *e, size_t n)
{
    struct export_job *x = arg;

    for (size_t k = 0; k < n; k++)
        chrome_event(x, &e[k]);
    return ferror(x->out) ? WEIR_EIO : 0;
}

int wr_trace_export_chrome(struct wr_trace_file *f, FILE *out, weir_err *err)
{
    struct export_job x = {.f = f, .out = out};
    int r;

    fprintf(out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    for (size_t k = 0; k < wr_trace_file_processes(f); k++) {
        const struct wr_trace_process *p = wr_trace_file_process(f, k);

        fprintf(out,
                "%s\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,"
                "\"args\":{\"name\":",
                x.begun ? "," : "", (int)p->pid);
        put_json(out, p->argv ? p->argv : "?");
        fprintf(out, "}}");
        x.begun = true;
    }
    r = wr_trace_file_walk(f, chrome_events, &x, err);
    fprintf(out, "\n]}\n");
    return walked(&x, r, err);
}
