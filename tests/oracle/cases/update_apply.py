"""Optimizer updates: each algorithm for variables by reference and by handle, dense and for some rows."""

from tests.oracle.table import *

# algorithm: (slots after the variable, hyper-parameters and their values, name of the gradient)
GRADIENT_DESCENT = ((), {"alpha": 0.1}, "delta")
PROXIMAL_GRADIENT_DESCENT = ((), {"alpha": 0.1, "l1": 0.3, "l2": 0.2}, "delta")
MOMENTUM = (("accum",), {"lr": 0.1, "momentum": 0.9}, "grad")
ADAGRAD = (("accum",), {"lr": 0.1}, "grad")
ADAGRAD_V2 = (("accum",), {"lr": 0.1, "epsilon": 0.01}, "grad")
ADAGRAD_DA = (("gradient_accumulator", "gradient_squared_accumulator"),
              {"lr": 0.1, "l1": 0.1, "l2": 0.2, "global_step": 3}, "grad")
PROXIMAL_ADAGRAD = (("accum",), {"lr": 0.1, "l1": 0.3, "l2": 0.2}, "grad")
ADAM = (("m", "v"), {"beta1_power": 0.9, "beta2_power": 0.99, "lr": 0.1, "beta1": 0.9, "beta2": 0.99, "epsilon": 0.01},
        "grad")
AMSGRAD = (("m", "v", "vhat"), ADAM[1], "grad")
ADAMAX = (("m", "v"), {"beta1_power": 0.9, "lr": 0.1, "beta1": 0.9, "beta2": 0.99, "epsilon": 0.01}, "grad")
RMS_PROP = (("ms", "mom"), {"lr": 0.1, "rho": 0.9, "momentum": 0.5, "epsilon": 0.01}, "grad")
CENTERED = (("mg", "ms", "mom"), {"lr": 0.1, "rho": 0.9, "momentum": 0.5, "epsilon": 3.0}, "grad")
ADADELTA = (("accum", "accum_update"), {"lr": 0.5, "rho": 0.9, "epsilon": 0.01}, "grad")
FTRL = (("accum", "linear"), {"lr": 0.5, "l1": 0.2, "l2": 0.1, "lr_power": -0.5}, "grad")
FTRL_V2 = (("accum", "linear"), {"lr": 0.5, "l1": 0.2, "l2": 0.1, "l2_shrinkage": 0.1, "lr_power": -0.5}, "grad")
ADD_SIGN = (("m",), {"lr": 0.1, "alpha": 1.5, "sign_decay": 0.8, "beta": 0.9}, "grad")
POWER_SIGN = (("m",), {"lr": 0.1, "logbase": 0.9, "sign_decay": 0.8, "beta": 0.9}, "grad")

# 16-bit types: several roundings add up.
TOL = {"half": 1e-2, "bfloat16": 6e-2}


class Program:
    """The variables of one update and the op itself, in the order of the op's inputs."""

    def __init__(self, b, op, algorithm, attrs, shape=(3, 2)):
        self.b, self.op, self.attrs = b, op, attrs
        self.slots, self.scalars, self.gradient = ("var",) + algorithm[0], dict(algorithm[1]), algorithm[2]
        self.is_resource = op.startswith("Resource")
        self.is_sparse = "Sparse" in op
        if self.is_sparse:
            self.gradient = "grad"
        self.shape, self.T = list(shape), b.types["T"]
        self.variables = {}
        self.values = {}
        initial = {"var": uniform(-1, 1)}
        for name in self.slots:
            self.values[name] = self.variable(name, initial.get(name, uniform(0.3, 1)).of(*self.shape))

    def variable(self, name, value):
        b = self.b
        if self.is_resource:
            handle = b.op("VarHandleOp", shape=self.shape, dtype=self.T, shared_name=b.name(name), name=name)
            init = b.op("AssignVariableOp", handle, b.input(value, self.T))
        else:
            handle = b.op("VariableV2", shape=self.shape, dtype=self.T, shared_name=b.name(name), name=name)
            init = b.op("Assign", handle, b.input(value, self.T))
        self.variables[name] = handle
        return init

    def update(self, indices=None, **replaced):
        """The op; keywords replace inputs."""
        from tensorflow.python.framework import op_def_registry
        b = self.b
        rows = len(indices) if indices is not None else 0
        grad = uniform(-1, 1).of(*([rows] + self.shape[1:] if self.is_sparse else self.shape))
        inputs = []
        for arg in op_def_registry.get(self.op).input_arg:
            if arg.name in replaced:
                inputs.append(replaced[arg.name])
            elif arg.name in self.variables:
                inputs.append(self.variables[arg.name])
            elif arg.name == self.gradient:
                inputs.append(b.input(grad, self.T))
            elif arg.name == "indices":
                inputs.append(b.input(values(indices), b.types["Tindices"]))
            else:
                inputs.append(self.scalars[arg.name])
        return b.op(self.op, *inputs, **self.attrs)

    def read(self):
        op = "ReadVariableOp" if self.is_resource else "Identity"
        kind = {"dtype": self.T} if self.is_resource else {}
        return [self.b.op(op, v, **kind) for v in self.variables.values()]


def program(op, algorithm, attrs):

    def build(b):
        p = Program(b, op, algorithm, attrs)
        init = list(p.values.values())
        if p.is_sparse:
            steps = [p.update([2, 0]), p.update([1]), p.update([1, 1]), p.update([])]
        else:
            steps = [p.update(), p.update()]
        read = p.read()
        b.run(targets=init)
        for step in steps:
            b.run(targets=[step])
            b.run(fetches=read)
        if not p.is_resource:
            b.run(fetches=[b.op("Identity", steps[0])])

    return build


def errors(op, algorithm, attrs):
    """Each input in turn has a wrong shape."""

    def build(b):
        p = Program(b, op, algorithm, attrs)
        good = {"indices": [0, 1]} if p.is_sparse else {}
        p.attrs = attrs
        wrong = lambda gen: b.hidden(gen.typed(p.T))
        bad = [p.update(**good, **{p.gradient: wrong(rand(2, 5))})]
        for name in p.scalars:
            if op.endswith("Sign") and name != "lr" or name == "global_step":
                continue  # TensorFlow crashes, or requires an input type that cannot be hidden
            bad.append(p.update(**good, **{name: wrong(rand(2))}))
        if p.is_sparse:
            bad += [p.update([0, 7]), p.update([-1, 0])]
        b.run(targets=list(p.values.values()))
        for step in bad:
            b.run(targets=[step], error=True)

    return build


def rows(op, algorithm, attrs=({},), tol=TOL):
    types = None if "Sparse" not in op else None
    made = [Row(op, build=program(op, algorithm, a), types=types, tol=tol, name=" ".join(a)) for a in attrs]
    first = {"T": ("float",)}
    if "Sparse" in op:
        first["Tindices"] = ("int32",)
    return made + [Row(op, build=errors(op, algorithm, attrs[0]), types=first, name="errors")]


NESTEROV = ({}, {"use_nesterov": True, "use_locking": True})
SLOTS = ({}, {"update_slots": False})
BY_LR = ({}, {"multiply_linear_by_lr": True})

ROWS = []


def ftrl_of_nan(op, scalars):

    def build(b):
        variables = [b.op("VariableV2", shape=[4], dtype="float") for _ in range(3)]
        for v, start in zip(variables, ([1, 2, 3, nan], [0.1, 0.1, 0, 0.1], [0, 1, nan, 1])):
            b.run(targets=[b.op("Assign", v, b.input(values(start)))])
        for power in (-0.5, -0.6):
            grad = b.input(values([nan, 0.5, 0.2, 0.1]))
            b.run(targets=[b.op(op, *variables, grad, *[b.input(values(s)) for s in scalars], b.input(values(power)))])
            b.run(fetches=[b.op("Identity", v) for v in variables])

    return build


ROWS += [Row(op, build=ftrl_of_nan(op, scalars), types=[{"T": "float"}], name="NaN")
         for op, scalars in (("ApplyFtrl", (0.1, 0.3, 0.2)), ("ApplyFtrlV2", (0.1, 0.3, 0.2, 0.1)))]
for prefix in ("Apply", "ResourceApply"):
    ROWS += rows(prefix + "GradientDescent", GRADIENT_DESCENT)
    ROWS += rows(prefix + "ProximalGradientDescent", PROXIMAL_GRADIENT_DESCENT)
    ROWS += rows(prefix + "Adam", ADAM, NESTEROV)
    ROWS += rows(prefix + "AdaMax", ADAMAX)
    ROWS += rows(prefix + "AddSign", ADD_SIGN)
    ROWS += rows(prefix + "PowerSign", POWER_SIGN)
ROWS += rows("ResourceApplyAdamWithAmsgrad", AMSGRAD)
ROWS += rows("ResourceApplyKerasMomentum", MOMENTUM, NESTEROV)
ROWS += rows("ResourceSparseApplyKerasMomentum", MOMENTUM, NESTEROV)
for prefix in ("SparseApply", "ResourceSparseApply"):
    ROWS += rows(prefix + "ProximalGradientDescent", PROXIMAL_GRADIENT_DESCENT)
for prefix in ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply"):
    ROWS += rows(prefix + "Momentum", MOMENTUM, NESTEROV)
    ROWS += rows(prefix + "Adagrad", ADAGRAD, SLOTS)
    ROWS += rows(prefix + "AdagradV2", ADAGRAD_V2, SLOTS)
    ROWS += rows(prefix + "AdagradDA", ADAGRAD_DA)
    ROWS += rows(prefix + "ProximalAdagrad", PROXIMAL_ADAGRAD)
    ROWS += rows(prefix + "RMSProp", RMS_PROP)
    ROWS += rows(prefix + "CenteredRMSProp", CENTERED)
    ROWS += rows(prefix + "Adadelta", ADADELTA)
    ROWS += rows(prefix + "Ftrl", FTRL, BY_LR)
    ROWS += rows(prefix + "FtrlV2", FTRL_V2, BY_LR)
