"""Source files written by one of our own programs."""

def generated_files(name, program, outs, args, srcs = [], visibility = None):
    """Runs `program` to write `outs`.

    The program is built in the target configuration, not the host's as `tools` would have it, so that the libraries in
    it are compiled once and not twice.

    Args:
      name: of the rule.
      program: label of a sluice_binary.
      outs: files it writes.
      args: a shell-quoted string; `$(RULEDIR)` is the folder of `outs`.
      srcs: files it reads.
      visibility: as ever.
    """
    native.genrule(
        name = name,
        srcs = [program] + srcs,
        outs = outs,
        cmd = "$(execpath %s) %s" % (program, args),
        visibility = visibility,
    )
