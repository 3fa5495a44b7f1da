"""Precompiled headers: without them, most files spend more than half of their compile time on
headers.

`-include bazel/precompiled/<name>.h` finds <name>.h.gch next to it in the output tree. g++ uses it
only if it was compiled with the same flags (-O1 and -O2 count as the same). Otherwise it reads the
header itself.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

_ACTION = "c++-compile"

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    ctx.actions.write(header, '#include "%s"\n' % ctx.files.hdrs[0].path)
    compiled = ctx.actions.declare_file(ctx.label.name + ".h.gch")
    context = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps]).compilation_context
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts,
    )
    flags = cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = _ACTION,
        variables = variables,
    )
    ctx.actions.run(
        executable = ctx.executable._precompile,
        arguments = [
            compiled.path,
            cc_common.get_tool_for_action(feature_configuration = features, action_name = _ACTION),
        ] + flags + ["-iquote", ".", "-iquote", ctx.bin_dir.path, "-MD", "-MF", "/dev/null", "-x", "c++-header", header.path],
        inputs = depset([header] + ctx.files.hdrs, transitive = [toolchain.all_files, context.headers]),
        outputs = [compiled],
        mnemonic = "PrecompileHeader",
        progress_message = "Precompiling " + header.short_path,
        use_default_shell_env = True,
    )
    return [CcInfo(compilation_context = cc_common.create_compilation_context(
        headers = depset([header, compiled] + ctx.files.hdrs, transitive = [context.headers]),
    ))]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "copts": attr.string_list(),
        # The libraries whose headers it includes.
        "deps": attr.label_list(providers = [CcInfo]),
        # The first is the one to precompile.
        "hdrs": attr.label_list(allow_files = [".h"]),
        "_precompile": attr.label(
            default = "//bazel/precompiled:precompile.sh",
            allow_single_file = True,
            cfg = "exec",
            executable = True,
        ),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
