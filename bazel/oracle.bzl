"""Tests in Python that compare with TensorFlow."""

def oracle_test(name, src, data = [], size = "medium", **kwargs):
    """Runs the unittest cases of `src` in the environment that tools/install creates.

    Cases and subtests are counted one by one. The working folder is the root of the runfiles, so
    `data` is found by its path in the source tree. Files next to `src` and in the root can be
    imported.

    Args:
      name: of the test.
      src: the file with the cases.
      data: files that it reads, runs or imports.
      size: as in sh_test.
      **kwargs: as in sh_test.
    """
    native.sh_test(
        name = name,
        srcs = ["//bazel/oracle:run.sh"],
        args = ["$(rootpath %s)" % src],
        data = data + [
            src,
            "//bazel/oracle:run.py",
        ],
        size = size,
        **kwargs
    )
