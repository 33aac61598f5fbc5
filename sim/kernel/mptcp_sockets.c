// Changes the TCP sockets of an unmodified program, when the dynamic linker loads it before the program's libraries
// (LD_PRELOAD): to MPTCP sockets, and to another congestion control.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

typedef int (*SocketFunction)(int, int, int);

__attribute__((visibility("default"))) int socket(int domain, int type, int protocol) {
    SocketFunction original = (SocketFunction)dlsym(RTLD_NEXT, "socket");
    const int kind = type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);
    const int is_tcp = (domain == AF_INET || domain == AF_INET6) && kind == SOCK_STREAM &&
                       (protocol == 0 || protocol == IPPROTO_TCP);
    if (!is_tcp) return original(domain, type, protocol);
    int made = -1;
    if (getenv("SUBFLOW_MPTCP")) made = original(domain, type, IPPROTO_MPTCP);
    if (made < 0) made = original(domain, type, protocol);  // a kernel without MPTCP
    const char* control = getenv("SUBFLOW_CONGESTION_CONTROL");
    if (made >= 0 && control) {
        const int before = errno;
        setsockopt(made, IPPROTO_TCP, TCP_CONGESTION, control, (socklen_t)strlen(control));
        errno = before;
    }
    return made;
}
