"""Tests of the oracle's rows."""

load("//bazel:oracle.bzl", "oracle_test")

def op_rows_test(family):
    """`:<family>_test` runs the rows of tests/oracle/cases/<family>_*.py.

    Args:
      family: as the folder in ops/.
    """
    oracle_test(
        name = family + "_test",
        src = "op_rows_test.py",
        data = native.glob(["cases/%s_*.py" % family]) + [":harness"],
        env = {"SLUICE_ORACLE_FAMILY": family},
        # Two processes, each with TensorFlow.
        tags = ["cpu:2"],
    )
