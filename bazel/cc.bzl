"""Sluice's C++ targets: cc_library, cc_binary and cc_test with the project's options.

Visibility follows from the top-level folder: a folder can be used by itself and by the folders that
the arrows in bazel/BUILD.bazel allow, so targets do not set `visibility`.
"""

# g++ 12 mistakes the unused inline storage of an absl::InlinedVector for a read of uninitialized
# memory.
_COPTS = ["-Wall", "-Wno-maybe-uninitialized"]

# -O2 of g++ 12 vectorizes almost nothing. Math functions need not set errno or raise flags.
LOOP_COPTS = ["-O3", "-fno-math-errno", "-fno-trapping-math"]

# For code that runs once (definitions, tests). It compiles in up to a third less time.
COLD_COPTS = ["-O1"]

# Folders below the graph, which must not depend on its precompiled headers.
_BELOW_GRAPH = ["graph", "graph/tensor", "graph/op", "graph/ir", "executor/wait", "executor/cpu"]

def _precompiled_header_of(folder, loops):
    """The precompiled header for a library in `folder`; see bazel/precompiled/BUILD.bazel."""
    room = folder.split("/")[0]
    if folder in _BELOW_GRAPH or room not in _ROOMS:
        return "standard"
    if room == "graph" or folder == "executor/kernel":
        return "graph"
    return "loops" if loops else "kernel" if room in ["executor", "ops"] else "graph"

# -fpch-deps lists the headers that a precompiled one contains among the dependencies of each object.
# Otherwise Bazel would not compile a file again if one of them changes.
#
# clang, which fuzzing uses, checks flags of precompiled headers more strictly, so it uses none.
def _precompiled(name):
    return select({
        "//bazel:fuzz": [],
        "//conditions:default": ["-fpch-deps", "-include", "bazel/precompiled/%s.h" % name],
    })

def _precompiled_dep(name):
    return select({
        "//bazel:fuzz": [],
        "//conditions:default": ["//bazel/precompiled:" + name],
    })

_ROOMS = ["graph", "executor", "ops", "training", "distributed"]

def room_visibility():
    """Visibility of a target in the calling package."""
    folders = native.package_name().split("/")
    room = folders[0]
    if room == "executor" and len(folders) > 1 and folders[1] != "testing":
        return ["//bazel:may_use_executor_" + folders[1]]
    if room in _ROOMS:
        return ["//bazel:may_use_" + room]
    return ["//visibility:public"]

def one_file(name, srcs):
    """Makes the file `name`, which includes `srcs`. Headers dominate the compile time of most code,
    so one file takes about half the time of its parts. Names at their namespace scopes must differ."""
    native.genrule(
        name = name + "_includes",
        outs = [name],
        cmd = "printf '#include \"%s/%%s\"\\n' %s > $@" % (native.package_name(), " ".join(srcs)),
        tags = ["manual"],
    )

def sluice_library(name, srcs = [], textual_hdrs = [], copts = [], deps = [], registers = False, loops = False, precompiled = None, visibility = None, **kwargs):
    """A library.

    Args:
      name: as in cc_library.
      srcs: as in cc_library. With --config=once they are one file, except loops.
      textual_hdrs: as in cc_library.
      copts: added to the project's options.
      deps: as in cc_library.
      registers: True if the code only has effects at start-up (ops, kernels, gradients). It is then
        linked whole.
      loops: True for kernels: optimized for loops over arrays.
      precompiled: a target of //bazel/precompiled, if not the one for the folder.
      visibility: only if it is narrower than that of the top-level folder.
      **kwargs: as in cc_library.
    """
    header = precompiled or _precompiled_header_of(native.package_name(), loops)
    parts = [src for src in srcs if src.endswith(".cc")]
    if len(parts) > 1 and not loops:
        whole = name + "_one_file.cc"
        one_file(whole, parts)
        textual_hdrs = textual_hdrs + select({
            "//bazel:once": parts,
            "//conditions:default": [],
        })
        srcs = select({
            "//bazel:once": [whole] + [src for src in srcs if src not in parts],
            "//conditions:default": srcs,
        })
    native.cc_library(
        name = name,
        srcs = srcs,
        textual_hdrs = textual_hdrs,
        copts = _COPTS + (LOOP_COPTS if loops else []) + _precompiled(header) + copts,
        deps = deps + _precompiled_dep(header),
        alwayslink = registers,
        # Programs link it statically; a shared object would compile everything again, as PIC.
        linkstatic = True,
        visibility = visibility or room_visibility(),
        **kwargs
    )

# Groups code that runs only at the start (registrations), so that pages between stay out of memory.
_GROUPED = ["-Wl,-z,keep-text-section-prefix"]

def sluice_binary(name, copts = [], linkopts = [], deps = [], visibility = None, **kwargs):
    """A program."""
    native.cc_binary(
        name = name,
        linkopts = _GROUPED + linkopts,
        copts = _COPTS + _precompiled("standard") + copts,
        deps = deps + _precompiled_dep("standard"),
        visibility = visibility or room_visibility(),
        **kwargs
    )

def sluice_test(name, copts = [], deps = [], data = [], size = "small", **kwargs):
    """A GoogleTest program; main() and the matchers are linked in."""
    native.cc_test(
        name = name,
        # At -O1 g++ 12 mistakes an InlinedVector's heap for its inline storage and warns about
        # bounds.
        copts = _COPTS + COLD_COPTS + ["-Wno-array-bounds"] + _precompiled("tests") + copts,
        data = data + ["//bazel/sanitizers:suppressions"],
        deps = deps + ["@gtest"] + _precompiled_dep("tests"),
        size = size,
        **kwargs
    )

def sluice_avx512_test(name, deps = [], env = {}, **kwargs):
    """A sluice_test of code with AVX-512 versions: NAME_test, and NAME_without_avx512_test for the
    others."""
    deps = deps + ["//executor/cpu:instruction_sets"]
    sluice_test(name = name, deps = deps, env = env, **kwargs)
    sluice_test(
        name = name[:-len("_test")] + "_without_avx512_test",
        deps = deps,
        env = dict(env, SLUICE_CPU = "avx2"),
        **kwargs
    )

def sluice_fuzz_test(name, corpus, copts = [], deps = [], size = "small", **kwargs):
    """A fuzz target: LLVMFuzzerTestOneInput on untrusted bytes.

    As a test it runs on `corpus` and a few hundred mutations of each file. With `--config=fuzz` it
    is a libFuzzer program:

      bazel build --config=fuzz //x:y_fuzz
      bazel-bin/x/y_fuzz -max_total_time=60 x/corpus

    Args:
      name: ends in _fuzz.
      corpus: initial files.
      copts: added to the project's options.
      deps: as in cc_test.
      size: as in cc_test.
      **kwargs: as in cc_test.
    """
    native.cc_test(
        name = name,
        args = ["$(rootpath %s)" % file for file in corpus],
        copts = _COPTS + copts,
        data = corpus + ["//bazel/sanitizers:suppressions"],
        linkopts = select({
            "//bazel:fuzz": ["-fsanitize=fuzzer"],
            "//conditions:default": [],
        }),
        deps = deps + select({
            "//bazel:fuzz": [],
            "//conditions:default": ["//bazel/fuzz:replay"],
        }),
        size = size,
        **kwargs
    )
