"""Op families, and the builder functions generated from their definitions.

Gradients use builder functions, and builder functions are generated from definitions. To break this cycle, the
definitions of a family are compiled twice: `:math_definitions` without gradients, for the generator, and `:math` with
gradients. Every source file of definitions gets its own header of builders, so a new op recompiles only the code that
includes this header.
"""

load("//bazel:cc.bzl", "COLD_COPTS", "one_file", "room_visibility", "sluice_binary", "sluice_library")
load("//bazel:generate.bzl", "generated_files")

def family_label(family, suffix = ""):
    """The label of a family's target: "image" is //ops/image, "image:webp" is //ops/image:webp."""
    folder, _, name = family.partition(":")
    return "//ops/%s:%s%s" % (folder, name or folder, suffix)

def op_files(files = [], definitions = [], kernels = []):
    """The libraries of single source files, for programs that need few ops and must build soon.

    A node of another op is an error that names the library to link. Passes leave out ops that are not linked.

    Args:
      files: "array/concat" for ops/array/concat.cc and ops/array/concat_kernels.cc.
      definitions: "reduce/reduce" for ops/reduce/reduce.cc only.
      kernels: "reduce/sum" for ops/reduce/sum_kernels.cc only.
    """
    return [
        "//ops/%s:%s/%s" % (file.split("/")[0], kind, file.split("/")[1])
        for kind, own in (("definitions", definitions), ("kernels", kernels))
        for file in files + own
    ]

def builders_stem(name):
    """The builders' header of family `name` of the calling package, without ".h"."""
    return "builders" if name == native.package_name().split("/")[-1] else name + "_builders"

def op_family(name, srcs, hdrs = [], tables = [], deps = [], gradient_srcs = [], gradient_hdrs = [], gradient_deps = [], gradient_file_deps = {}):
    """Definitions of ops: `:name` with gradients, `:name_definitions` without, `:name_builders` with the builder functions.

    ":definitions/rounding" has the definitions of rounding.cc only; see op_files.

    Each source file gets a header of builders ("rounding.cc": "rounding_builders.h"). "builders.h" includes all of them;
    it is "<name>_builders.h" if the family is not named like its folder. Gradients see the builders that "ops/op.h"
    includes. For others, include the header under `#ifndef SLUICE_DEFINITIONS_ONLY` and add the target to gradient_deps.

    Args:
      name: name of the family: that of its folder, unless it is an optional part of it (//ops/image:webp).
      srcs: files with OP(...) blocks; they include "ops/op.h". Their names at namespace scope must be unique in the family.
      hdrs: headers that srcs share (shape functions).
      tables: headers from which srcs derive ops; ops/builders/libraries.awk knows their form.
      deps: dependencies other than ops/op.h.
      gradient_srcs: files that only gradients need; not compiled for `:name_definitions`.
      gradient_hdrs: headers that only gradients need; include them under `#ifndef SLUICE_DEFINITIONS_ONLY`.
      gradient_deps: dependencies that only gradients need.
      gradient_file_deps: those that only the gradients of one source file need: {file: dependencies}.
    """
    stem = builders_stem(name)
    one_file(name + "_definitions.cc", srcs)
    sluice_library(
        name = name + "_definitions",
        srcs = [name + "_definitions.cc"],
        hdrs = hdrs,
        textual_hdrs = srcs,
        # Functions that only gradients call are unused here.
        copts = COLD_COPTS + ["-DSLUICE_DEFINITIONS_ONLY", "-Wno-unused-function"],
        precompiled = "graph",
        registers = True,
        deps = deps + ["//ops:definitions"],
    )
    sluice_library(
        name = name + "_shared",
        srcs = gradient_srcs,
        hdrs = hdrs + gradient_hdrs,
        copts = COLD_COPTS,
        precompiled = "ops",
        deps = deps + gradient_deps + ["//ops:op"],
    )
    for src in srcs:
        sluice_library(
            name = "definitions/" + src[:-len(".cc")],
            srcs = [src],
            copts = COLD_COPTS,
            precompiled = "ops",
            registers = True,
            deps = [":%s_shared" % name, "//ops/builders:libraries"] + gradient_file_deps.get(src, []),
        )
    sluice_library(
        name = name,
        deps = ["definitions/" + src[:-len(".cc")] for src in srcs],
    )
    native.filegroup(
        name = name + "_sources",
        srcs = srcs + tables,
        visibility = room_visibility(),
    )
    op_builders(
        name = name + "_builders",
        definitions = [":%s_definitions" % name],
        files = srcs,
        stem = stem,
    )

def op_kernels(name, srcs, hdrs = [], deps = [], file_deps = {}, copts = []):
    """Kernels of a family, linked whole and optimised for loops.

    ":kernels/rounding" has the kernels of rounding_kernels.cc only; see op_files.

    Args:
      name: name of the library of all kernels.
      srcs: files that register kernels, "<name>_kernels.cc", and files that these share.
      hdrs: headers that srcs share.
      deps: dependencies other than executor/kernel.
      file_deps: those that only one file with kernels needs, and a program without them need not build: {file: dependencies}.
      copts: more options for the compiler.
    """
    registering = [src for src in srcs if src.endswith("_kernels.cc")]
    sluice_library(
        name = name + "_shared",
        srcs = [src for src in srcs if src not in registering],
        hdrs = hdrs,
        copts = copts,
        loops = True,
        deps = deps + ["//executor/kernel"],
    )
    for src in registering:
        sluice_library(
            name = "kernels/" + src[:-len("_kernels.cc")],
            srcs = [src] + [header for header in srcs if header.endswith(".h")],
            copts = copts,
            loops = True,
            registers = True,
            deps = [":%s_shared" % name, "//ops/builders:libraries"] + file_deps.get(src, []),
        )
    sluice_library(
        name = name,
        deps = [":kernels/" + src[:-len("_kernels.cc")] for src in registering],
    )
    native.filegroup(
        name = name + "_sources",
        srcs = registering,
        visibility = room_visibility(),
    )

def op_builders(name, definitions, stem, files):
    """A library of the builder functions of `definitions`.

    Include `<file>_builders.h` for the ops that one source file declares, `<stem>.h` for all of them.

    Args:
      name: name of the library.
      definitions: `_definitions` targets of families.
      stem: name of the header that includes all others, without ".h".
      files: the source files of `definitions`.
    """
    headers = [file[:-len(".cc")] + "_builders.h" for file in files]
    if stem + ".h" not in headers:
        headers.append(stem + ".h")
    sluice_binary(
        name = name + "_generator",
        deps = definitions + ["//ops/builders:generator"],
    )
    generated_files(
        name = name + "_files",
        program = ":%s_generator" % name,
        outs = headers + [stem + ".cc"],
        args = "$(RULEDIR) %s %s %s" % (native.package_name(), stem, " ".join(files)),
    )
    sluice_library(
        name = name,
        srcs = [stem + ".cc"],
        hdrs = headers,
        copts = COLD_COPTS,
        precompiled = "graph",
        deps = [
            "//graph/build",
            "//graph/ir",
            "//ops/builders:result",
        ],
    )

def all_builders(name, families):
    """A library whose header, `<name>.h`, includes the builder functions of all `families`."""
    headers = []
    for family in families:
        folder, _, part = family.partition(":")
        headers.append("ops/%s/%s.h" % (folder, part + "_builders" if part else "builders"))
    native.genrule(
        name = name + "_header",
        outs = [name + ".h"],
        cmd = "(echo '// Builder functions of all ops.'; echo '#pragma once'; for f in %s; do echo \"#include \\\"$$f\\\"\"; done) > $@" % " ".join(headers),
    )
    sluice_library(
        name = name,
        hdrs = [name + ".h"],
        deps = [family_label(family, "_builders") for family in families],
    )
