"""Op families, and the builder functions generated from their definitions.

The circle of gradients (which use builder functions) and builder functions (which are generated from definitions) is
cut by compiling a family's definitions twice: `:math_definitions` without gradients for the generator, `:math` whole.
"""

load("//bazel:cc.bzl", "sluice_binary", "sluice_library")
load("//bazel:generate.bzl", "generated_files")

def op_family(name, srcs, hdrs = [], deps = [], gradient_srcs = [], gradient_hdrs = [], gradient_deps = []):
    """Definitions of ops: `:name` with gradients, `:name_definitions` without.

    Args:
      name: of the family, as its folder.
      srcs: files of OP(…) blocks; they include "ops/op.h".
      hdrs: what these share (shape functions).
      deps: besides ops/op.h.
      gradient_srcs: what the gradients alone need; not compiled for `:name_definitions`.
      gradient_deps: likewise; libraries over builder functions.
      gradient_hdrs: likewise; include them under `#ifndef SLUICE_DEFINITIONS_ONLY`.
      gradient_deps: likewise.
    """
    sluice_library(
        name = name + "_definitions",
        srcs = srcs,
        hdrs = hdrs,
        # Functions that only gradients call are left without a caller.
        copts = ["-DSLUICE_DEFINITIONS_ONLY", "-Wno-unused-function"],
        registers = True,
        deps = deps + ["//ops:definitions"],
    )
    sluice_library(
        name = name,
        srcs = srcs + gradient_srcs,
        hdrs = hdrs + gradient_hdrs,
        registers = True,
        deps = deps + gradient_deps + ["//ops:op"],
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
        deps = deps + ["//executor/kernel"],
    )

def op_builders(name, definitions, stem, shards, deps):
    """A library of the builder functions of `definitions`; include `<stem>.h` of the calling package.

    Args:
      name: of the library.
      definitions: `_definitions` targets of families.
      stem: of the files' names.
      shards: number of .cc files; an op stays in its file, so that a new op recompiles one.
      deps: of the generated files.
    """
    sluice_binary(
        name = name + "_generator",
        deps = definitions + ["//ops/builders:generator"],
    )
    parts = ["%s_%d" % (stem, i) for i in range(shards)]
    hdrs = [part + ".h" for part in [stem] + parts]
    srcs = [part + ".cc" for part in parts]
    generated_files(
        name = name + "_files",
        program = ":%s_generator" % name,
        outs = hdrs + srcs,
        args = "$(RULEDIR) %s %s %d" % (native.package_name(), stem, shards),
    )
    sluice_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        deps = deps,
    )
