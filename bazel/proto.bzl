"""C++ from .proto files by the distribution's protoc (proto_library would want Protobuf's sources)."""

load("//bazel:cc.bzl", "room_visibility")

def sluice_proto(name, srcs, deps = [], grpc = False, visibility = None):
    """A cc_library of protoc's output; include `<package>/<file>.pb.h`.

    Args:
      name: of the library.
      srcs: .proto files of this package. They import others by their path from the root.
      deps: other sluice_proto libraries that `srcs` import.
      grpc: True if `srcs` have services. Also generates `<file>.grpc.pb.h`.
      visibility: only if it is narrower than that of the top-level folder.
    """
    stems = [src[:-len(".proto")] for src in srcs]
    kinds = [".pb", ".grpc.pb"] if grpc else [".pb"]
    hdrs = [stem + kind + ".h" for stem in stems for kind in kinds]
    messages = [stem + ".pb.cc" for stem in stems]
    services = [stem + ".grpc.pb.cc" for stem in stems] if grpc else []
    visibility = visibility or room_visibility()
    native.filegroup(
        name = name + "_protos",
        srcs = srcs + [dep + "_protos" for dep in deps],
        visibility = visibility,
    )
    plugin = "--plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin --grpc_out=$(GENDIR) " if grpc else ""
    native.genrule(
        name = name + "_generate",
        srcs = [name + "_protos"],
        outs = hdrs + messages + services,
        cmd = "protoc -I. --cpp_out=$(GENDIR) " + plugin +
              " ".join(["%s/%s" % (native.package_name(), src) for src in srcs]),
        visibility = ["//visibility:private"],
    )

    # Protobuf's headers dominate the compile time, so all messages are compiled as one file. protoc
    # gives two static arrays the same names in every file.
    native.genrule(
        name = name + "_one_file",
        srcs = messages,
        outs = [name + ".cc"],
        cmd = "for file in $(SRCS); do for array in schemas file_default_instances; do " +
              "echo \"#undef $$array\"; echo \"#define $$array $${array}_$$(basename $$file .pb.cc)\"; done; " +
              "cat $$file; done > $@",
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        srcs = [name + ".cc"] + services,
        hdrs = hdrs,
        copts = ["-w"],
        linkstatic = True,
        deps = deps + ["@protobuf"] + (["@grpc"] if grpc else []),
        visibility = visibility,
    )
