/* manual.c - the help and the man pages of commands, from their tables.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Both say the same in the same order, so one walk of a command's tables makes
 * either; only where a page begins and ends do they differ. */
#include "cli/manual.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"

const struct wr_variable wr_environment[] = {
    {.name = "WEIR_INDEX_DIR",
     .help = "The folder that keeps the indexes of data sets. The empty string "
             "turns them off: every data set is then indexed each time it is "
             "opened. Programs that use libweir read it too, unless they set "
             "weir_dataset_config.index_dir."},
    {.name = "XDG_CACHE_HOME",
     .help =
         "If WEIR_INDEX_DIR is not set and this is an absolute path, indexes "
         "that took long to build are kept in weir/index below it."},
    {.name = "HOME",
     .help = "If neither is set, they are kept in .cache/weir/index below this "
             "folder."},
    {.name = "WEIR_MODULES",
     .help = "The folders, separated by colons, that modules are loaded from "
             "(weir-onednn.so, weir-mpi-openmpi.so, weir-mpi-mpich.so), "
             "instead of the places beside weir and where it was installed."},
    {.name = "WEIR_HDF5_HELPER",
     .help = "The program that parses HDF5 files, instead of weir-hdf5 beside "
             "weir or where it was installed. Programs that use libweir read "
             "it too."},
    {.name = "WEIR_HDF5_PATIENCE",
     .help = "Seconds that this program may take without progress before the "
             "file counts as damaged (default: 60)."},
    {.name = "WEIR_TRACE",
     .help = "Set by weir trace for the command that it runs: where its "
             "processes record what they do."},
    {.name = "WEIR_TRACE_DISABLE",
     .help = "If set and not empty, weir trace runs its command without "
             "tracing it; a traced program sets it for children that are not "
             "to be traced."},
    {.name = "WEIR_TRACE_LIBRARY",
     .help = "The library that weir trace preloads, instead of "
             "libweir-trace.so beside weir or where it was installed."},
    {.name = "WEIR_TRACE_NO_BPF",
     .help = "If set and not empty, weir trace --kernel takes names from /proc "
             "instead of a BPF program."},
    {.name = "LD_PRELOAD",
     .help = "Libraries that traced programs load before others: weir trace "
             "puts its own in front of these."},
    {.name = "TMPDIR",
     .help = "Where weir trace keeps what it shares with traced processes if "
             "/dev/shm cannot be used, and the trace if the working "
             "directory cannot be written."},
    {.name = "OMP_WAIT_POLICY",
     .indirect = true,
     .help = "How the threads of weir train's oneDNN engine wait. If it is not "
             "set, passive: they leave the cores to the input pipeline."},
    {.name = "WEIR_MPI",
     .help = "How ranks meet: openmpi or mpich (by the module for that MPI), "
             "or none (without MPI). If it is not set, by the MPI whose "
             "launcher started them, and otherwise without."},
    {.name = "WEIR_SECRET",
     .help = "What ranks that meet at a TCP port must have in common; long and "
             "random. If it is not set the id of the job alone keeps strangers "
             "out."},
    {.name = "OMPI_COMM_WORLD_RANK",
     .help = "With OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_RANK and "
             "OMPI_COMM_WORLD_LOCAL_SIZE: the ranks that mpirun of Open MPI "
             "started."},
    {.name = "OMPI_COMM_WORLD_SIZE", .help = "See OMPI_COMM_WORLD_RANK."},
    {.name = "OMPI_COMM_WORLD_LOCAL_RANK", .help = "See OMPI_COMM_WORLD_RANK."},
    {.name = "OMPI_COMM_WORLD_LOCAL_SIZE", .help = "See OMPI_COMM_WORLD_RANK."},
    {.name = "PMIX_RANK",
     .help = "Set by Open MPI and by srun --mpi=pmix: ranks meet by Open MPI."},
    {.name = "PMIX_NAMESPACE",
     .help = "With Open MPI and WEIR_MPI=none: names the socket at which the "
             "ranks of one host meet."},
    {.name = "PMI_RANK",
     .help = "With PMI_SIZE, MPI_LOCALRANKID and MPI_LOCALNRANKS: the ranks "
             "that mpiexec of MPICH or srun --mpi=pmi2 started."},
    {.name = "PMI_SIZE", .help = "See PMI_RANK."},
    {.name = "MPI_LOCALRANKID", .help = "See PMI_RANK."},
    {.name = "MPI_LOCALNRANKS", .help = "See PMI_RANK."},
    {.name = "SLURM_PROCID",
     .help = "With SLURM_STEP_NUM_TASKS, SLURM_LOCALID, SLURM_NODEID and "
             "SLURM_STEP_TASKS_PER_NODE: the ranks that srun started."},
    {.name = "SLURM_STEP_NUM_TASKS", .help = "See SLURM_PROCID."},
    {.name = "SLURM_LOCALID", .help = "See SLURM_PROCID."},
    {.name = "SLURM_NODEID", .help = "See SLURM_PROCID."},
    {.name = "SLURM_STEP_TASKS_PER_NODE", .help = "See SLURM_PROCID."},
    {.name = "SLURM_JOB_ID",
     .help = "With SLURM_STEP_ID and SLURM_STEP_NODELIST: where ranks of srun "
             "meet without MPI, and what keeps strangers out."},
    {.name = "SLURM_STEP_ID", .help = "See SLURM_JOB_ID."},
    {.name = "SLURM_STEP_NODELIST", .help = "See SLURM_JOB_ID."},
    {.name = "RANK",
     .help = "With WORLD_SIZE, MASTER_ADDR and MASTER_PORT, and if there are "
             "any LOCAL_RANK and LOCAL_WORLD_SIZE: the ranks that torchrun "
             "started. They meet at the port behind MASTER_PORT."},
    {.name = "WORLD_SIZE", .help = "See RANK."},
    {.name = "LOCAL_RANK", .help = "See RANK."},
    {.name = "LOCAL_WORLD_SIZE", .help = "See RANK."},
    {.name = "MASTER_ADDR", .help = "See RANK."},
    {.name = "MASTER_PORT", .help = "See RANK."},
    {.name = "TORCHELASTIC_RUN_ID",
     .help = "Set by torchrun: its ranks count, whatever started torchrun."},
    {.name = "NO_COLOR",
     .help = "If set and not empty, results have no colours unless --color "
             "always is given."},
    {.name = "LC_ALL",
     .indirect = true,
     .help = "With LC_CTYPE and LANG: the character set of the terminal. "
             "Charts use block characters only where it is UTF-8. Numbers are "
             "written the same way everywhere."},
    {.name = "LC_CTYPE", .indirect = true, .help = "See LC_ALL."},
    {.name = "LANG", .indirect = true, .help = "See LC_ALL."},
    {.name = "TZ",
     .indirect = true,
     .help = "The time zone of the times that weir ckpt ls prints. Records and "
             "JSON have UTC."},
    {.name = "PATH",
     .indirect = true,
     .help = "Where weir mount and weir doctor look for fusermount3."},
    {.name = NULL}};

#define HELP_WIDTH  96 /* longer lines are hard to read */
#define NAME_COLUMN 26 /* where the texts of options begin */
#define WORD_COLUMN 16 /* those of columns, exit codes and commands */
#define HANG        4  /* blanks in front of the rest of a long line */

/* Where a manual goes. */
struct page {
    const struct wr_cli *cli; /* borrowed: of help; NULL: this is roff */
    FILE *to;                 /* borrowed */
};

/* Exit codes and what they say; ends with a NULL code. Code 1 is the second. */
static const struct exit_text {
    const char *code, *text;
} exits[] = {{"0", "Done."},
             {"1", "Failed; a message on stderr says what and why."},
             {"2", "Wrong usage."},
             {"3", "Ran, but missed a threshold that was asked for."},
             {"130, 143", "Stopped by Ctrl-C or by SIGTERM."},
             {NULL, NULL}};

/* The heading of a group of commands. */
static const char *group_title(enum wr_command_group group)
{
    static const char *const headings[] = {
        [WR_GROUP_DATA] = "Data sets",  [WR_GROUP_MEASURE] = "Measuring",
        [WR_GROUP_SAVE] = "Saving",     [WR_GROUP_HELP] = "About weir",
        [WR_GROUP_HIDDEN] = "Internal",
    };

    return headings[group];
}

/* --- texts of both --- */

/* " KIND PATH..." behind what stands in buf. */
static void append_operands(const struct wr_operand *o, char *buf, size_t cap)
{
    size_t used = strlen(buf);

    for (; o && o->name && used < cap; o++) {
        bool opt = o->flags & WR_OPERAND_OPTIONAL;

        used += (size_t)snprintf(
            buf + used, cap - used, " %s%s%s%s", opt ? "[" : "", o->name,
            o->flags & WR_OPERAND_MANY ? "..." : "", opt ? "]" : "");
    }
}

/* "weir ckpt [options] ACTION", or of an action: "weir ckpt drain [options] FAST
 * SLOW". */
static char *command_usage(const struct wr_command *cmd,
                           const struct wr_action *a, char *buf, size_t cap)
{
    snprintf(buf, cap, "weir %s%s%s [options]", cmd->name, a ? " " : "",
             a ? a->name : "");
    append_operands(a ? a->operands : cmd->operands, buf, cap);
    return buf;
}

/* "-t, --threads N". */
static char *option_usage(const struct wr_option *opt, char *buf, size_t cap)
{
    bool on = opt->type == WR_OPTION_FLAG && opt->def &&
              !strcmp(opt->def, "yes");
    char letter[8] = "    ";

    if (opt->letter)
        snprintf(letter, sizeof(letter), "-%c, ", opt->letter);
    snprintf(buf, cap, "%s--%s%s%s%s", letter, on ? "no-" : "", opt->name,
             opt->type == WR_OPTION_FLAG ? "" : " ",
             opt->type == WR_OPTION_FLAG ? ""
             : opt->arg                  ? opt->arg
                                         : "VALUE");
    return buf;
}

/* "default: 4", the choices; "" when there is nothing to say. */
static char *option_notes(const struct wr_option *opt, char *buf, size_t cap)
{
    const char *def = opt->def_note ? opt->def_note : opt->def;
    char all[256];
    size_t used = 0;

    buf[0] = '\0';
    if (opt->choices)
        used = (size_t)snprintf(buf, cap, "%s",
                                wr_choice_join(opt->choices, all, sizeof(all)));
    if (def && opt->type != WR_OPTION_FLAG && used < cap)
        snprintf(buf + used, cap - used, "%sdefault: %s", used ? "; " : "",
                 def);
    return buf;
}

/* --- on a terminal --- */

static size_t help_width(const struct wr_cli *cli)
{
    return WR_MAX(40u, WR_MIN(cli->width, HELP_WIDTH)) - 1;
}

/* "  NAME      text", wrapped below the text. */
static void print_entry(const struct wr_cli *cli, FILE *to, const char *name,
                        const char *text, size_t column)
{
    size_t at = 2 + strlen(name);

    fprintf(to, "  %s", name);
    if (at + 2 > column) {
        fputc('\n', to);
        at = 0;
    }
    fprintf(to, "%*s", (int)(column - at), "");
    wr_text_print(to, text,
                  (struct wr_text_wrap){column, column, help_width(cli)});
}

/* A line of text; what is too long for it stands below, further to the right. */
__attribute__((format(printf, 2, 3))) static void
print_line(const struct wr_cli *cli, const char *fmt, ...)
{
    char line[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    wr_text_print(cli->out, line,
                  (struct wr_text_wrap){0, HANG, help_width(cli)});
}

static void print_heading(const struct wr_cli *cli, const char *heading)
{
    wr_cli_put(cli, "\n%s", wr_cli_style(cli, WR_STYLE_BOLD));
    wr_text_fold(cli->out, heading, strlen(heading),
                 (struct wr_text_wrap){0, 0, help_width(cli) - 1});
    wr_cli_put(cli, ":%s\n", wr_cli_style(cli, WR_STYLE_END));
}

/* Bytes of the shell's word at s, with quoted blanks. */
static size_t word_len(const char *s)
{
    char quote = '\0';
    size_t len = 0;

    for (; s[len] && (quote || s[len] != ' '); len++) {
        if (s[len] == quote)
            quote = '\0';
        else if (!quote && (s[len] == '\'' || s[len] == '"'))
            quote = s[len];
    }
    return len;
}

/* A command that is too long goes on after a backslash: it can still be copied. */
static void print_command(const struct wr_cli *cli, const char *s)
{
    const char *before = "  ";
    size_t at = 1; /* with a blank in front of the next word */

    while (*s) {
        size_t len = word_len(s);
        size_t backslash = s[len] ? 2 : 0;

        if (at > 1 + HANG &&
            at + 1 + wr_text_columns(s, len) + backslash > help_width(cli)) {
            before = " \\\n      ";
            at = 2 + HANG - 1;
        }
        wr_cli_put(cli, "%s%.*s", before, (int)len, s);
        at += 1 + wr_text_columns(s, len);
        before = " ";
        s += len + strspn(s + len, " ");
    }
}

/* --- in roff --- */

/* Text that roff shall print as it is: no requests, no escapes, real minus
 * signs. A blank line becomes a new paragraph. */
static void roff_text(FILE *to, const char *s)
{
    bool line_start = true;

    for (; *s; s++) {
        if (line_start && (*s == '.' || *s == '\''))
            fputs("\\&", to);
        line_start = *s == '\n';
        if (!strncmp(s, "\n\n", 2)) {
            fputs("\n.PP\n", to);
            s++;
        } else if (*s == '\\') {
            fputs("\\e", to);
        } else if (*s == '-') {
            fputs("\\-", to);
        } else if (*s == '\'') {
            fputs("\\(aq", to);
        } else {
            fputc(*s, to);
        }
    }
}

static void roff_line(FILE *to, const char *s)
{
    roff_text(to, s);
    fputc('\n', to);
}

static void roff_title(FILE *to, const char *name, const char *version)
{
    fputs(".\\\" Made from the option tables; do not edit.\n.TH \"WEIR", to);
    if (name)
        fputc('-', to);
    for (; name && *name; name++)
        fputc(wr_upper(*name), to);
    fprintf(to, "\" 1 \"\" \"weir %s\" \"weir manual\"\n.nh\n.ad l\n", version);
}

static void roff_heading(FILE *to, const char *macro, const char *title)
{
    fprintf(to, "%s \"", macro);
    roff_text(to, title);
    fputs("\"\n", to);
}

/* A tagged paragraph: the tag in bold, then the text. */
static void roff_tagged(FILE *to, const char *tag, const char *text)
{
    roff_heading(to, ".TP\n.B", tag);
    roff_line(to, text);
}

/* --- the walk --- */

/* `request`: the heading in roff. */
static void put_section(const struct page *g, const char *title,
                        const char *request)
{
    if (g->cli)
        print_heading(g->cli, title);
    else
        fprintf(g->to, "%s\n", request);
}

/* `column`: where the text begins on a terminal. */
static void put_entry(const struct page *g, const char *name, const char *text,
                      size_t column)
{
    if (g->cli)
        print_entry(g->cli, g->to, name, text, column);
    else
        roff_tagged(g->to, name + strspn(name, " "), text);
}

static void put_choices(const struct page *g, const struct wr_choice *choices)
{
    bool any = false;

    for (; choices && choices->name; choices++) {
        char name[64];

        if (!choices->help)
            continue;
        if (!any && !g->cli)
            fputs(".RS\n", g->to);
        any = true;
        snprintf(name, sizeof(name), "      %s", choices->name);
        put_entry(g, name, choices->help, NAME_COLUMN);
    }
    if (any && !g->cli)
        fputs(".RE\n", g->to);
}

static void put_option(const struct page *g, const struct wr_option *o)
{
    char name[96], notes[320], text[1024];

    if (o->flags & WR_OPTION_HIDDEN)
        return;
    option_notes(o, notes, sizeof(notes));
    snprintf(text, sizeof(text), "%s%s%s%s", o->help, *notes ? " (" : "", notes,
             *notes ? ")" : "");
    put_entry(g, option_usage(o, name, sizeof(name)), text, NAME_COLUMN);
    put_choices(g, o->choices);
}

/* Those of one table; of a command's, those that the action has. */
static void put_options(const struct page *g, const struct wr_option *o,
                        const struct wr_action *a)
{
    for (; o && o->name; o++) {
        if (a && !wr_action_has(a, o->name))
            continue;
        if (o->group && !a && g->cli)
            print_heading(g->cli, o->group);
        else if (o->group && !a)
            roff_heading(g->to, ".SS", o->group);
        put_option(g, o);
    }
}

static void put_all_options(const struct page *g, const struct wr_command *cmd,
                            const struct wr_action *a)
{
    const struct wr_option *o = cmd->options;

    if (!g->cli || (a ? a->options != NULL : o && o->name && !o->group))
        put_section(g, "Options", ".SH OPTIONS");
    put_options(g, o, a);
    put_options(g, wr_common_options, NULL);
}

static void put_operands(const struct page *g, const struct wr_command *cmd,
                         const struct wr_operand *o)
{
    struct wr_choice room[WR_ACTIONS_MAX + 1];

    if (!o || !o->name)
        return;
    put_section(g, "Arguments", ".SH ARGUMENTS");
    for (; o->name; o++) {
        put_entry(g, o->name, o->help, NAME_COLUMN);
        put_choices(g, wr_operand_words(cmd, o, room));
    }
}

/* Each table's under its title, if it has one; `macro`: of that in roff. */
static void put_columns(const struct page *g, const struct wr_columns *c,
                        const char *macro)
{
    for (; c && c->list; c++) {
        char heading[128];

        snprintf(heading, sizeof(heading), "Columns%s%s", c->title ? ", " : "",
                 c->title ? c->title : "");
        if (g->cli)
            print_heading(g->cli, heading);
        else if (c->title)
            roff_heading(g->to, macro, c->title);
        for (const struct wr_column *col = c->list; wr_column_is(col); col++)
            if (wr_column_help(col))
                put_entry(g, wr_column_head(col), wr_column_help(col),
                          WORD_COLUMN);
    }
}

static void put_examples(const struct page *g, const struct wr_help_example *e)
{
    if (e && e->line)
        put_section(g, "Examples", ".SH EXAMPLES");
    for (; e && e->line; e++) {
        if (!g->cli) {
            roff_tagged(g->to, e->line, e->what);
            continue;
        }
        print_command(g->cli, e->line);
        wr_cli_put(g->cli, "\n      ");
        wr_text_print(g->to, e->what,
                      (struct wr_text_wrap){6, 6, help_width(g->cli)});
    }
}

static void put_exits(const struct page *g, const struct wr_action *a)
{
    put_section(g, "Exit status", ".SH \"EXIT STATUS\"");
    for (const struct exit_text *e = exits; e->code; e++) {
        if (a && !strcmp(e->code, "3")) /* no action has thresholds */
            continue;
        put_entry(g, e->code,
                  a && a->failed && !strcmp(e->code, "1") ? a->failed : e->text,
                  WORD_COLUMN);
    }
}

static void put_groups(const struct page *g,
                       const struct wr_command *const *commands)
{
    for (int k = 0; k < WR_GROUP_HIDDEN; k++) {
        bool any = false;

        for (size_t i = 0; commands[i]; i++) {
            if ((int)commands[i]->group != k)
                continue;
            if (!any)
                fprintf(g->to, g->cli ? "\n%s:\n" : ".SH \"%s\"\n",
                        group_title(commands[i]->group));
            any = true;
            put_entry(g, commands[i]->name, commands[i]->summary, WORD_COLUMN);
        }
    }
}

/* --- help --- */

void wr_help_of(const struct wr_cli *cli, const struct wr_command *cmd,
                const struct wr_action *a)
{
    const struct page g = {cli, cli->out};
    const char *more = a ? a->description : cmd->description;
    char usage[256];

    print_line(cli, "weir %s%s%s - %s", cmd->name, a ? " " : "",
               a ? a->name : "", a ? a->summary : cmd->summary);
    wr_cli_put(cli, "\n");
    print_line(cli, "Usage: %s", command_usage(cmd, a, usage, sizeof(usage)));
    if (more) {
        wr_cli_put(cli, "\n");
        wr_text_print(cli->out, more,
                      (struct wr_text_wrap){0, 0, help_width(cli)});
    }
    put_operands(&g, cmd, a ? a->operands : cmd->operands);
    put_all_options(&g, cmd, a);
    put_columns(&g, a ? a->columns : cmd->columns, NULL);
    put_examples(&g, a ? a->examples : cmd->examples);
    if (a)
        put_exits(&g, a);
    if (a || !cmd->actions)
        return;
    wr_cli_put(cli, "\n");
    print_line(
        cli,
        "'weir %s %s --help' explains an action: options, columns, exit codes.",
        cmd->name, cmd->run ? cmd->actions[0]->name : cmd->operands->name);
}

void wr_help_overview(const struct wr_cli *cli,
                      const struct wr_command *const *commands, FILE *to)
{
    const struct page g = {cli, to};

    fputs("weir measures and feeds the input of deep-learning training.\n\n"
          "Usage: weir COMMAND [options] [arguments]\n",
          to);
    put_groups(&g, commands);
    fputs("\n'weir COMMAND --help' explains a command and shows examples;\n"
          "'weir --version' prints the version.\n",
          to);
}

/* --- man pages --- */

/* The options that an action has, in one line. */
static void roff_action_options(FILE *to, const struct wr_action *a)
{
    const char *const *name = a->options;

    fputs(".PP\nOptions:", to);
    for (; *name; name++) {
        fputs(" \\-\\-", to);
        roff_text(to, *name);
        fputs(name[1] ? "," : ".\n", to);
    }
}

static void roff_actions(const struct page *g, const struct wr_command *cmd)
{
    FILE *to = g->to;
    char usage[256];

    if (!cmd->actions)
        return;
    fputs(".SH ACTIONS\n", to);
    for (const struct wr_action *const *a = cmd->actions; *a; a++) {
        roff_heading(to, ".SS", command_usage(cmd, *a, usage, sizeof(usage)));
        roff_line(to, (*a)->description ? (*a)->description : (*a)->summary);
        if ((*a)->options)
            roff_action_options(to, *a);
        if ((*a)->columns)
            fputs(".PP\nColumns:\n", to);
        put_columns(g, (*a)->columns, ".PP\n.I");
        if ((*a)->failed) {
            fputs(".PP\nExit status 1: ", to);
            roff_line(to, (*a)->failed);
        }
    }
}

void wr_roff_command(FILE *to, const struct wr_command *cmd,
                     const char *version)
{
    const struct page g = {NULL, to};
    char usage[256];

    roff_title(to, cmd->name, version);
    fputs(".SH NAME\nweir\\-", to);
    roff_text(to, cmd->name);
    fputs(" \\- ", to);
    roff_line(to, cmd->summary);
    fputs(".SH SYNOPSIS\n", to);
    roff_heading(to, ".B", command_usage(cmd, NULL, usage, sizeof(usage)));
    fputs(".SH DESCRIPTION\n", to);
    roff_line(to, cmd->description);
    put_operands(&g, cmd, cmd->operands);
    roff_actions(&g, cmd);
    put_all_options(&g, cmd, NULL);
    if (cmd->columns)
        fputs(".SH COLUMNS\n", to);
    put_columns(&g, cmd->columns, ".SS");
    put_examples(&g, cmd->examples);
    put_exits(&g, NULL);
    fputs(".SH \"SEE ALSO\"\n.BR weir (1)\n", to);
}

static void roff_see_also(FILE *to, const struct wr_command *const *commands)
{
    bool any = false;

    fputs(".SH \"SEE ALSO\"\n", to);
    for (size_t i = 0; commands[i]; i++) {
        if (commands[i]->group == WR_GROUP_HIDDEN)
            continue;
        fprintf(to, "%s.BR weir\\-%s (1)", any ? ",\n" : "", commands[i]->name);
        any = true;
    }
    fputs(",\n.BR weir (3)\n", to);
}

void wr_roff_overview(FILE *to, const struct wr_command *const *commands,
                      const char *version)
{
    const struct page g = {NULL, to};

    roff_title(to, NULL, version);
    fputs(".SH NAME\nweir \\- measures and feeds the input of deep\\-learning "
          "training\n"
          ".SH SYNOPSIS\n.B \"weir COMMAND [options] [arguments]\"\n"
          ".br\n.B \"weir \\-\\-help\"\n.br\n.B \"weir \\-\\-version\"\n"
          ".SH DESCRIPTION\n",
          to);
    roff_line(to, "weir stands between storage and accelerators: it measures "
                  "how fast a data set can be fed to training, says what "
                  "limits it, and is the library that feeds it.\n\n"
                  "Results go to stdout, everything else to stderr. Each "
                  "command explains itself with --help.");
    put_groups(&g, commands);
    fputs(".SH ENVIRONMENT\n", to);
    for (const struct wr_variable *v = wr_environment; v->name; v++)
        roff_tagged(to, v->name, v->help);
    put_exits(&g, NULL);
    roff_see_also(to, commands);
}
