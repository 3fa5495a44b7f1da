"""Repositories for libraries that the distribution installed.

`@name` (that is `@name//:name`) is a cc_library with the include folders and link options of the
library. Headers in /usr/include need no declaration. Other include folders are linked into the
repository.
"""

_BUILD = """
cc_library(
    name = {name},
    hdrs = glob(["include*/**"], allow_empty = True),
    includes = {includes},
    linkopts = {linkopts},
    visibility = ["//visibility:public"],
)
"""

def _write_build(ctx, include_dirs, linkopts):
    includes = []
    for i, directory in enumerate(include_dirs):
        includes.append("include%d" % i)
        ctx.symlink(directory, includes[-1])
    ctx.file("BUILD.bazel", _BUILD.format(
        name = repr(ctx.name),
        includes = repr(includes),
        linkopts = repr(linkopts),
    ))

def _query(ctx, flag):
    command = ["pkg-config", flag] + ctx.attr.modules
    result = ctx.execute(command)
    if result.return_code != 0:
        fail("'%s' says: %s(tools/test installs the packages)" % (" ".join(command), result.stderr))
    return [word for word in result.stdout.strip().split(" ") if word]

def _pkg_config_impl(ctx):
    include_dirs = [flag[len("-I"):] for flag in _query(ctx, "--cflags-only-I")]
    _write_build(ctx, include_dirs, _query(ctx, "--libs"))

pkg_config = repository_rule(
    implementation = _pkg_config_impl,
    attrs = {"modules": attr.string_list(mandatory = True)},
    configure = True,
    local = True,
    doc = "A library that pkg-config knows, by one or more module names.",
)

def _system_library_impl(ctx):
    for header in ctx.attr.headers:
        if not ctx.path(header).exists:
            fail("%s is missing: install Debian's %s (tools/test does)" % (header, ctx.attr.package))
    _write_build(ctx, ctx.attr.include_dirs, ctx.attr.linkopts)

system_library = repository_rule(
    implementation = _system_library_impl,
    attrs = {
        "headers": attr.string_list(doc = "Headers that must exist, as absolute paths."),
        "include_dirs": attr.string_list(doc = "Include folders outside the compiler's own."),
        "linkopts": attr.string_list(),
        "package": attr.string(doc = "The Debian package to name when a header is missing."),
    },
    configure = True,
    local = True,
    doc = "A library without a pkg-config file.",
)
