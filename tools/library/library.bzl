"""Sluice as an installed library: one shared object, one archive, headers, and what CMake and pkg-config read."""

def _own(files):
    return [f for f in files if not f.owner.workspace_name]

def _archives(linking):
    """The project's own archives, and the link options of what they need from the system."""
    archives, flags = [], []
    for input in linking.linker_inputs.to_list():
        for library in input.libraries:
            archive = library.static_library or library.pic_static_library
            if archive:
                archives += _own([archive])
        flags += [flag for flag in input.user_link_flags if flag not in flags]
    return archives, flags

def _installed_library_impl(ctx):
    info = ctx.attr.library[CcInfo]
    headers = _own(info.compilation_context.headers.to_list())
    archives, flags = _archives(info.linking_context)
    tree = ctx.actions.declare_directory(ctx.label.name)
    listing = ctx.actions.declare_file(ctx.label.name + ".txt")
    ctx.actions.write(listing, "\n".join(
        ["header %s %s" % (h.path, h.path[len(h.root.path):].lstrip("/")) for h in headers] +
        ["archive %s %s" % (a.path, a.basename) for a in archives] +
        ["flag %s -" % flag for flag in flags] +
        ["map %s -" % ctx.file.map.path, "shared %s -" % ctx.file.shared.path] +
        ["template %s %s" % (t.path, t.basename) for t in ctx.files.templates],
    ) + "\n")
    ctx.actions.run(
        executable = "/usr/bin/python3",
        arguments = [ctx.file._lay_out.path, listing.path, tree.path, ctx.attr.version],
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
        "templates": attr.label_list(allow_files = True, doc = "@VERSION@, @FLAGS@ are filled in."),
        "version": attr.string(mandatory = True),
        "_lay_out": attr.label(default = ":lay_out.py", allow_single_file = True),
    },
)
