"""Starts a program under the limits of a container: limits.py LIMITS PROGRAM ARGUMENT...

LIMITS are "data=BYTES threads=N files=N". Root becomes an unused user, because limits of threads do
not apply to root, and because a server should not run as root. The program is opened before, so it
may lie in a folder that only root can enter.
"""

import os
import resource
import sys


def unused_user():
    return 1_000_000 + os.getpid()


def main():
    limits = dict(word.split("=") for word in sys.argv[1].split())
    program = os.open(sys.argv[2], os.O_RDONLY | os.O_CLOEXEC)
    threads = int(limits["threads"])
    if os.getuid() != 0:  # the limit is one of all threads of the user
        threads += sum(len(os.listdir("/proc/%s/task" % p)) for p in os.listdir("/proc")
                       if p.isdigit() and os.path.exists("/proc/" + p) and os.stat("/proc/" + p).st_uid == os.getuid())
    for limit, value in [(resource.RLIMIT_DATA, int(limits["data"])), (resource.RLIMIT_NPROC, threads),
                         (resource.RLIMIT_NOFILE, int(limits["files"])), (resource.RLIMIT_CORE, 0)]:
        resource.setrlimit(limit, (value, value))
    if os.getuid() == 0:
        user = unused_user()
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    os.execve(program, sys.argv[2:], os.environ)


if __name__ == "__main__":
    main()
