/* forkmt.c - forks while another thread reads: a tracer with a lock hangs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: forkmt FILE TIMES */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_bool stop;

static void *read_on(void *arg)
{
    char buf[512];

    while (!stop) {
        int fd = open(arg, O_RDONLY);

        if (fd < 0 || read(fd, buf, sizeof(buf)) < 0)
            exit(3);
        close(fd);
    }
    return NULL;
}

static int child(const char *path)
{
    char buf[64];
    int fd = open(path, O_RDONLY);

    if (fd < 0 || read(fd, buf, sizeof(buf)) != sizeof(buf))
        return 1;
    close(fd);
    return 0;
}

int main(int argc, char **argv)
{
    int bad = 0, times;
    pthread_t t;

    if (argc != 3)
        return 2;
    times = atoi(argv[2]);
    if (pthread_create(&t, NULL, read_on, argv[1]))
        return 3;
    for (int i = 0; i < times; i++) {
        pid_t pid = fork();
        int status;

        if (pid == 0)
            _exit(child(argv[1]));
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            bad++;
    }
    stop = true;
    pthread_join(t, NULL);
    printf("%d of %d failed\n", bad, times);
    return bad != 0;
}
