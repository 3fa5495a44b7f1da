"""Outside ops/, only the files listed here compare the op of a node with a name.

All other components use traits (graph/op/op_traits.h), so that each op is described in one place.
"""

import os
import re
import sys

SOURCES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
FOLDERS = ["graph", "executor", "training", "distributed"]

COMPARISON = re.compile(r'\bop(\(\))? *[!=]= *"'
                        r'|\bop\(\)\.(find|starts_with|ends_with)\('
                        r'|\bIs(Op|OneOf)\('
                        r'|\b(contains|find|count)\((\w+(\.|->))+op(\(\))?\)'
                        r'|\bops(->|\.)(contains|find|count)\(')

ALLOWED = {
    # Rewrites of specific ops.
    "executor/passes/defer_adam.cc",
    "executor/passes/fold_transposes.cc",
    "executor/passes/fuse_attention.cc",
    "executor/passes/image_chains.cc",
    "executor/passes/join_pads.cc",
    "executor/passes/narrow_products.cc",
    "executor/passes/pack_operands.cc",
    "executor/passes/simplify.cc",
    # Calls of functions.
    "graph/build/control_flow_context.cc",
    # Tables that programs extend by the names of their ops.
    "distributed/cluster/replica_devices.cc",
    "training/optimizer/processor.cc",
}


def comparisons():
    """All lines that compare: path, number, text."""
    for top in FOLDERS:
        for folder, _, files in os.walk(os.path.join(SOURCES, top)):
            for name in files:
                path = os.path.relpath(os.path.join(folder, name), SOURCES)
                if not name.endswith((".h", ".cc")) or "test" in path:
                    continue
                with open(os.path.join(SOURCES, path), encoding="utf-8") as file:
                    for number, line in enumerate(file, 1):
                        if COMPARISON.search(line):
                            yield path, number, line.strip()


def main():
    found = list(comparisons())
    wrong = ["%s:%d compares an op with a name, declare a trait instead: %s" % line
             for line in found if line[0] not in ALLOWED]
    wrong += ["%s no longer compares an op with a name: remove it from the list" % path
              for path in sorted(ALLOWED - {line[0] for line in found})]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
