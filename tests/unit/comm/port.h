/* port.h - a TCP port of the loopback interface that nobody uses.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_COMM_PORT_H
#define TEST_COMM_PORT_H

#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Below the ports that systems hand out: it stays free until it is used. */
static inline int free_port(void)
{
    for (int tries = 0; tries < 1000; tries++) {
        int port = 20000 +
                   (int)((unsigned)getpid() * 7u + (unsigned)rand()) % 10000;
        struct sockaddr_in a = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr = {htonl(INADDR_LOOPBACK)}};
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int r = bind(fd, (struct sockaddr *)&a, sizeof(a));

        close(fd);
        if (r == 0)
            return port;
    }
    abort();
}

#endif
