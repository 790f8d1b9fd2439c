/* interrupt.c - Ctrl-C as a flag that long commands poll.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#define NO_SIGNAL (-1) /* but wr_interrupt_stop */

/* lint: global - a signal handler can reach nothing else. Holds the number of
 * the signal that came, 0 before. */
static atomic_int signal_came;

static void on_signal(int number)
{
    signal_came = number;
}

static void on_pipe(int number)
{
    (void)number; /* unlike SIG_IGN, a handler is not inherited by exec */
}

bool wr_signal_is_ignored(int number)
{
    struct sigaction now;

    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void wr_interrupt_install(void)
{
    /* Calls that wait (to open a file on a server that is gone, say) are not
     * begun again: they fail, and the command ends. A second signal kills. */
    struct sigaction stop = {.sa_handler = on_signal,
                             .sa_flags = (int)SA_RESETHAND};
    struct sigaction pipe = {.sa_handler = on_pipe, .sa_flags = SA_RESTART};

    sigemptyset(&stop.sa_mask);
    sigemptyset(&pipe.sa_mask);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    if (!wr_signal_is_ignored(SIGHUP))
        sigaction(SIGHUP, &stop, NULL);
    sigaction(SIGPIPE, &pipe, NULL);
}

void wr_interrupt_stop(void)
{
    int none = 0;

    atomic_compare_exchange_strong(&signal_came, &none, NO_SIGNAL);
}

bool wr_interrupted(void)
{
    return signal_came != 0;
}

int wr_interrupt_exit_code(void)
{
    int number = signal_came;

    return number > 0 ? 128 + number : 0;
}
