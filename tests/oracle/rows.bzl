"""Tests of the oracle's rows."""

load("//bazel:oracle.bzl", "oracle_test")

def op_rows_test(family, one_thread = False):
    """`:<family>_test` runs the rows of tests/oracle/cases/<family>_*.py.

    Args:
      family: as the folder in ops/.
      one_thread: whether `:<family>_one_thread_test` runs them too, in sessions of one thread: no op may need another
        to wait.
    """
    oracle_test(
        name = family + "_test",
        src = "op_rows_test.py",
        data = native.glob(["cases/%s_*.py" % family]) + [":harness"],
        env = {"SLUICE_ORACLE_FAMILY": family},
        # Two processes, each with TensorFlow.
        tags = ["cpu:2"],
    )
    if one_thread:
        oracle_test(
            name = family + "_one_thread_test",
            src = "op_rows_test.py",
            data = native.glob(["cases/%s_*.py" % family]) + [":harness"],
            env = {
                "SLUICE_ORACLE_FAMILY": family,
                "SLUICE_ORACLE_THREADS": "1",
            },
            tags = ["cpu:2"],
        )
