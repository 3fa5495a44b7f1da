"""Starts a program under the limits of a container: limits.py LIMITS PROGRAM ARGUMENT...

LIMITS are "data=BYTES threads=N files=N". With "ipv6=0" the system refuses sockets of IPv6, as on a
host without it. Root becomes an unused user, because limits of threads do
not apply to root, and because a server should not run as root. The program is opened before, so it
may lie in a folder that only root can enter.
"""

import ctypes
import errno
import os
import platform
import resource
import socket
import struct
import sys

SET_NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER_MODE = 38, 22, 2
SOCKET_CALL = {"x86_64": 41, "aarch64": 198}


def unused_user():
    return 1_000_000 + os.getpid()


def instruction(code, value, if_true=0, if_false=0):
    return struct.pack("HBBI", code, if_true, if_false, value)


def refuse_ipv6():
    """socket(AF_INET6, ...) then returns EAFNOSUPPORT, in this process and in what it executes. Reference: seccomp(2)."""
    load, jump_if_equal, end = 0x20, 0x15, 0x06
    allow, refuse = 0x7FFF0000, 0x00050000 | errno.EAFNOSUPPORT
    program = b"".join([
        instruction(load, 0),  # the number of the call
        instruction(jump_if_equal, SOCKET_CALL[platform.machine()], 0, 3),
        instruction(load, 16),  # its first argument
        instruction(jump_if_equal, socket.AF_INET6, 0, 1),
        instruction(end, refuse),
        instruction(end, allow),
    ])
    code = ctypes.create_string_buffer(program)
    filter_program = ctypes.create_string_buffer(struct.pack("HP", len(program) // 8, ctypes.addressof(code)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0 or prctl(SET_SECCOMP, FILTER_MODE, ctypes.byref(filter_program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the system takes no filter of calls")


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
    if limits.get("ipv6") == "0":
        refuse_ipv6()
    os.execve(program, sys.argv[2:], os.environ)


if __name__ == "__main__":
    main()
