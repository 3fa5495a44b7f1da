# Which library has an op, read from the sources: a C++ file with lines "<op> <library> <library of its kernels>" in one string.
# Arguments, per family: library=<label> kind=ops <sources of definitions> kind=kernels <sources of kernels>.

# OP(Abs, "..."), or a macro that stands for OP.
kind == "ops" && /^[A-Z_]+\(_?[A-Z][A-Za-z0-9]*,/ {
  sub(/^[A-Z_]+\(/, ""); sub(/,.*/, "")
  home[$0] = library
}
kind == "ops" && /^const OpRegistrar k/ { home[substr($3, 2)] = library }

# An update rule (ops/update/rules.h) stands for an op per form.
kind == "ops" && /^inline constexpr UpdateRule k/ {
  rule = substr($4, 2)
  home["Apply" rule] = home["ResourceApply" rule] = library
  home["SparseApply" rule] = home["ResourceSparseApply" rule] = library
  home["EmbeddingTableApply" rule] = library
}
kind == "ops" && /^ *\.has_ref = false/ { delete home["Apply" rule]; delete home["SparseApply" rule] }
kind == "ops" && /^ *\.has_sparse = false/ { delete home["SparseApply" rule]; delete home["ResourceSparseApply" rule] }
kind == "ops" && /^ *\.is_for_tables_only = true/ {
  delete home["Apply" rule]; delete home["ResourceApply" rule]
  delete home["SparseApply" rule]; delete home["ResourceSparseApply" rule]
}

# The kernels of some ops are in another family.
kind == "kernels" && /KERNELS?\(_?[A-Z][A-Za-z0-9]*,/ {
  sub(/.*KERNELS?\(/, ""); sub(/,.*/, "")
  kernels[$0] = library
  registers[$0, library] = 1
}

END {
  print "namespace sluice {\nextern const char kOpLibraries[];\nconst char kOpLibraries[] ="
  fflush()
  sort = "LC_ALL=C sort"
  for (op in home) {
    own = registers[op, home[op]] || !(op in kernels)
    printf "    \"%s %s %s_kernels\\n\"\n", op, home[op], own ? home[op] : kernels[op] | sort
  }
  close(sort)
  print "    ;\n}  // namespace sluice"
}
