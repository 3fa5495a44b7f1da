"""Sluice as an installed library: one shared object, one archive, headers, and files for CMake and
pkg-config."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _own(files):
    return [f for f in files if not f.owner.workspace_name]

def _archive(library):
    return library.static_library or library.pic_static_library

def _archives(linking):
    """The project's own archives, and the link options of the system libraries that they need."""
    archives, flags = [], []
    for input in linking.linker_inputs.to_list():
        archives += _own([_archive(library) for library in input.libraries if _archive(library)])
        for flag in input.user_link_flags:
            # Options that enclose others come in pairs. Libraries are named only once.
            if flag not in flags or not flag.startswith("-l"):
                flags.append(flag)
    return archives, flags

def _whole_library_impl(ctx):
    info = ctx.attr.library[CcInfo]
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    archives, flags = _archives(info.linking_context)
    whole = cc_common.create_linker_input(
        owner = ctx.label,
        user_link_flags = depset(flags),
        libraries = depset([
            cc_common.create_library_to_link(
                actions = ctx.actions,
                feature_configuration = features,
                cc_toolchain = toolchain,
                static_library = archive,
                alwayslink = True,
            )
            for archive in archives
        ]),
    )
    return [CcInfo(
        compilation_context = info.compilation_context,
        linking_context = cc_common.create_linking_context(linker_inputs = depset([whole])),
    )]

whole_library = rule(
    implementation = _whole_library_impl,
    doc = "A library with every object of the project below it, named by somebody or not.",
    attrs = {
        "library": attr.label(providers = [CcInfo], mandatory = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def _installed_library_impl(ctx):
    info = ctx.attr.library[CcInfo]
    headers = [h for h in _own(info.compilation_context.headers.to_list()) if not h.owner.package.startswith("bazel/")]
    archives, flags = _archives(info.linking_context)
    tree = ctx.actions.declare_directory(ctx.label.name)
    listing = ctx.actions.declare_file(ctx.label.name + ".txt")
    ctx.actions.write(listing, "\n".join(
        ["header %s %s" % (h.path, h.path[len(h.root.path):].lstrip("/")) for h in headers] +
        ["archive %s %s" % (a.path, a.basename) for a in archives] +
        ["flag %s -" % flag for flag in flags] +
        ["requires %s -" % module for module in ctx.attr.requires] +
        ["map %s -" % ctx.file.map.path, "shared %s -" % ctx.file.shared.path] +
        ["template %s %s" % (t.path, t.basename) for t in ctx.files.templates],
    ) + "\n")
    ctx.actions.run(
        executable = "/usr/bin/python3",
        arguments = [ctx.file._lay_out.path, listing.path, tree.path, ctx.attr.version, ctx.attr.soversion],
        inputs = [ctx.file._lay_out] + headers + archives + ctx.files.templates + [ctx.file.map, ctx.file.shared, listing],
        outputs = [tree],
        mnemonic = "LayOut",
        progress_message = "Laying out the installed library",
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([tree]), runfiles = ctx.runfiles([tree]))]

installed_library = rule(
    implementation = _installed_library_impl,
    doc = "A folder with include/, lib/, lib/cmake and lib/pkgconfig, to be copied to any prefix.",
    attrs = {
        "library": attr.label(providers = [CcInfo], mandatory = True, doc = "What users see, with all that it needs."),
        "map": attr.label(allow_single_file = True, mandatory = True, doc = "The linker's list of what is exported."),
        "shared": attr.label(allow_single_file = True, mandatory = True, doc = "The shared object."),
        "soversion": attr.string(mandatory = True, doc = "N of the file libsluice.so.N."),
        "requires": attr.string_list(doc = "pkg-config's modules that the headers include."),
        "templates": attr.label_list(
            allow_files = True,
            doc = "@VERSION@, @FLAGS@, @REQUIRES@ (pkg-config's names) and @TARGETS@ (CMake's) are filled in.",
        ),
        "version": attr.string(mandatory = True),
        "_lay_out": attr.label(default = ":lay_out.py", allow_single_file = True),
    },
)
