"""Op families, and the builder functions generated from their definitions.

The circle of gradients (which use builder functions) and builder functions (which are generated from definitions) is
cut by compiling a family's definitions twice: `:math_definitions` without gradients for the generator, `:math` whole.
Builders are generated family by family, so that a new op recompiles what uses its family and no more.
"""

load("//bazel:cc.bzl", "COLD_COPTS", "room_visibility", "sluice_binary", "sluice_library")
load("//bazel:generate.bzl", "generated_files")

def op_family(name, srcs, hdrs = [], deps = [], gradient_srcs = [], gradient_hdrs = [], gradient_deps = []):
    """Definitions of ops: `:name` with gradients, `:name_definitions` without; `:name_builders`, which is "builders.h".

    Gradients see the builders of their own family, and of those that "ops/op.h" names; for others include
    "ops/<family>/builders.h" under `#ifndef SLUICE_DEFINITIONS_ONLY` and name them in gradient_deps.

    Args:
      name: of the family, as its folder.
      srcs: files of OP(…) blocks; they include "ops/op.h". What one of them defines has a name that no other has.
      hdrs: what these share (shape functions).
      deps: besides ops/op.h.
      gradient_srcs: what the gradients alone need; not compiled for `:name_definitions`.
      gradient_hdrs: likewise; include them under `#ifndef SLUICE_DEFINITIONS_ONLY`.
      gradient_deps: likewise.
    """
    # Most of compiling a file of definitions is what its headers hold: all of a family are compiled in one go.
    native.genrule(
        name = name + "_one_file",
        outs = ["definitions.cc"],
        cmd = "printf '#include \"%s/%%s\"\\n' %s > $@" % (native.package_name(), " ".join(srcs)),
    )
    sluice_library(
        name = name + "_definitions",
        srcs = ["definitions.cc"],
        hdrs = hdrs,
        textual_hdrs = srcs,
        # Functions that only gradients call are left without a caller.
        copts = COLD_COPTS + ["-DSLUICE_DEFINITIONS_ONLY", "-Wno-unused-function"],
        registers = True,
        deps = deps + ["//ops:definitions"],
    )
    sluice_library(
        name = name,
        srcs = srcs + gradient_srcs,
        hdrs = hdrs + gradient_hdrs,
        copts = COLD_COPTS + ['-DSLUICE_FAMILY_BUILDERS=\\"%s/builders.h\\"' % native.package_name()],
        registers = True,
        deps = deps + gradient_deps + [":%s_builders" % name, "//ops:op", "//ops/builders:libraries"],
    )
    native.filegroup(
        name = name + "_sources",
        srcs = srcs,
        visibility = room_visibility(),
    )
    op_builders(
        name = name + "_builders",
        definitions = [":%s_definitions" % name],
        stem = "builders",
    )

def op_kernels(name, srcs, hdrs = [], deps = [], copts = []):
    """Kernels of a family, linked whole and optimised for loops."""
    sluice_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        copts = copts,
        loops = True,
        registers = True,
        deps = deps + ["//executor/kernel", "//ops/builders:libraries"],
    )
    native.filegroup(
        name = name + "_sources",
        srcs = srcs,
        visibility = room_visibility(),
    )

def op_builders(name, definitions, stem):
    """A library of the builder functions of `definitions`; include `<stem>.h` of the calling package.

    Args:
      name: of the library.
      definitions: `_definitions` targets of families.
      stem: of the files' names.
    """
    sluice_binary(
        name = name + "_generator",
        deps = definitions + ["//ops/builders:generator"],
    )
    generated_files(
        name = name + "_files",
        program = ":%s_generator" % name,
        outs = [stem + ".h", stem + ".cc"],
        args = "$(RULEDIR) %s %s" % (native.package_name(), stem),
    )
    sluice_library(
        name = name,
        srcs = [stem + ".cc"],
        hdrs = [stem + ".h"],
        copts = COLD_COPTS,
        deps = [
            "//graph/build",
            "//graph/ir",
            "//ops/builders:result",
        ],
    )

def all_builders(name, families):
    """A library whose header, `<name>.h`, includes the builder functions of all `families`."""
    native.genrule(
        name = name + "_header",
        outs = [name + ".h"],
        cmd = "(echo '// Builder functions of all ops.'; echo '#pragma once'; for f in %s; do echo \"#include \\\"ops/$$f/builders.h\\\"\"; done) > $@" % " ".join(families),
    )
    sluice_library(
        name = name,
        hdrs = [name + ".h"],
        deps = ["//ops/%s:%s_builders" % (family, family) for family in families],
    )
