/* main.c - the weir command: finds the command and ends with its exit code.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/shown.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/manual.h"
#include "cli/interrupt.h"
#include "cli/screen.h"
#include "weir/weir.h"

/* Many files are open at once; the soft limit is for programs that use
 * select, which this one does not. */
static void raise_file_limit(void)
{
    struct rlimit lim;

    if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur < lim.rlim_max) {
        lim.rlim_cur = lim.rlim_max;
        setrlimit(RLIMIT_NOFILE, &lim); /* a wish: failing is fine */
    }
}

static int dispatch(struct wr_cli *cli, int argc, char **argv)
{
    const struct wr_command *cmd;
    struct wr_suggested near;

    if (argc < 2) {
        wr_help_overview(cli, wr_commands, stderr);
        return WR_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        fprintf(cli->out, "weir %s\n", weir_version_string());
        return WR_EXIT_DONE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        wr_help_overview(cli, wr_commands, cli->out);
        return WR_EXIT_DONE;
    }
    cmd = wr_command_find(argv[1], &near);
    if (!cmd) {
        fprintf(stderr,
                "weir: unknown command '%s'%s\n"
                "Try 'weir --help' for the list.\n",
                wr_show(argv[1]).text, near.text);
        return WR_EXIT_USAGE;
    }
    return wr_command_run(cmd, cli, argc - 2, argv + 2);
}

/* Whether the reader of a pipe is gone. A write that failed earlier has set
 * errno, but much may have happened since. */
static bool is_pipe_closed(FILE *out)
{
    struct pollfd p = {.fd = fileno(out), .events = POLLOUT};

    return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

/* Results that did not arrive are a failure; a reader that had enough (head)
 * needs no message. */
static int finish_output(FILE *out)
{
    int reason = fflush(out) == EOF ? errno : 0;

    if (!reason && !ferror(out))
        return WR_EXIT_DONE;
    if (!is_pipe_closed(out))
        fprintf(stderr, "weir: cannot write the results: %s\n",
                /* of what failed earlier the reason is lost */
                reason ? strerror(reason) : "some of them are missing");
    return WR_EXIT_FAILED;
}

int main(int argc, char **argv)
{
    struct wr_cli cli = {.out = stdout, .err = stderr};
    int code, lost;

    setlocale(LC_CTYPE, "");                  /* numbers keep their point */
    if (argc < 2 || strcmp(argv[1], "trace")) /* its command keeps the limit */
        raise_file_limit();
    wr_interrupt_install();
    cli.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
    cli.width = wr_screen_width(stdout);
    if (!cli.width)
        cli.width = 80;
    code = dispatch(&cli, argc, argv);
    errno = 0;
    lost = finish_output(stdout);
    if (wr_interrupt_exit_code())
        return wr_interrupt_exit_code();
    return code ? code : lost;
}
