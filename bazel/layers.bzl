"""The layers of executor/. A folder may use the folders before it in this list, never those behind it."""

EXECUTOR_LAYERS = [
    # Files, waiting, the processor, and the kernel contract.
    "files",
    "wait",
    "cpu",
    "kernel",
    "device",
    # The compiler.
    "plan",
    "partition",
    "placer",
    "passes",
    "fusion",
    "memory",
    "compiler",
    # The runtime.
    "step",
    "trace",
    # Sessions.
    "collective",
    "session",
]

def executor_layer_groups():
    """For each folder of executor/, the package group of those that may use it: may_use_executor_<folder>."""
    for i, folder in enumerate(EXECUTOR_LAYERS):
        native.package_group(
            name = "may_use_executor_" + folder,
            includes = [":users_of_executor"],
            packages = ["//executor/%s/..." % user for user in EXECUTOR_LAYERS[i:] + ["testing"]],
        )
