# The families of ops, read off the sources: a C++ file of lines "<op> <family> <family of its kernels>" in one string.
# Arguments: `kind=ops` and sources of definitions, `kind=kernels` and sources of kernels, all as ops/<family>/<file>.
FNR == 1 { split(FILENAME, path, "/"); family = path[2] }

# OP(Abs, "…"), or a macro of the file's own around it.
kind == "ops" && /^[A-Z_]+\(_?[A-Z][A-Za-z0-9]*,/ {
  sub(/^[A-Z_]+\(/, ""); sub(/,.*/, "")
  home[$0] = family
}
kind == "ops" && /^const OpRegistrar k/ { home[substr($3, 2)] = family }

# Some kernels stand in another family than their op.
kind == "kernels" && /KERNELS?\(_?[A-Z][A-Za-z0-9]*,/ {
  sub(/.*KERNELS?\(/, ""); sub(/,.*/, "")
  kernels[$0] = family
  registers[$0, family] = 1
}

END {
  print "namespace sluice {\nextern const char kOpLibraries[];\nconst char kOpLibraries[] ="
  fflush()
  sort = "LC_ALL=C sort"
  for (op in home) {
    own = registers[op, home[op]] || !(op in kernels)
    printf "    \"%s %s %s\\n\"\n", op, home[op], own ? home[op] : kernels[op] | sort
  }
  close(sort)
  print "    ;\n}  // namespace sluice"
}
