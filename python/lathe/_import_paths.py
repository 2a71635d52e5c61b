"""Modules under the paths that PyTorch has them at: `from lathe.distributions.normal import ...`,
and all of Lathe below lathe.compat.torch. Each is the very module that there is."""

import sys

_DISTRIBUTIONS = (
    "bernoulli beta binomial categorical cauchy chi2 constraint_registry continuous_bernoulli "
    "dirichlet exp_family exponential fishersnedecor gamma generalized_pareto geometric gumbel "
    "half_cauchy half_normal independent inverse_gamma kumaraswamy laplace lkj_cholesky log_normal "
    "logistic_normal lowrank_multivariate_normal mixture_same_family multinomial "
    "multivariate_normal negative_binomial normal one_hot_categorical pareto poisson "
    "relaxed_bernoulli relaxed_categorical studentT transformed_distribution uniform von_mises "
    "weibull wishart"
)
_OPTIM = "adadelta adagrad adamax adamw asgd nadam radam rmsprop rprop"
# By the package that has them: PyTorch's modules, whose names are in the package itself.
_MODULES = {
    "distributions": _DISTRIBUTIONS,
    "optim": _OPTIM,
    "utils.data": "dataloader dataset distributed sampler",
    "nn.utils": "clip_grad convert_parameters",
    "nn": "parallel",
    "amp": "autocast_mode grad_scaler",
    "autograd": "grad_mode variable",
}
_ELSEWHERE = {"cuda.amp": "lathe.amp.cuda", "autograd.profiler": "lathe.profiler"}
_COMPAT = "lathe.compat.torch."


def _where(path):
    """The name of the module that is meant by a path below `lathe`; None: none by another name."""
    package, _, name = path.rpartition(".")
    if name in _MODULES.get(package, "").split():
        return f"lathe.{package}"
    return _ELSEWHERE.get(path)


class _Alias:
    """Loads a module by giving the one of another name."""

    def __init__(self, name):
        self._name = name

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        sys.modules[module.__name__] = sys.modules[self._name]


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if not name.startswith("lathe."):
            return None
        inside = name.removeprefix(_COMPAT)
        compat = inside != name
        real = _where(inside if compat else name.removeprefix("lathe."))
        if real is None and compat and not inside.rpartition(".")[2].startswith("_"):
            real = f"lathe.{inside}"
        if real is None or not _exists(real):
            return None
        from importlib.machinery import ModuleSpec

        package = compat and hasattr(sys.modules[real], "__path__")
        return ModuleSpec(name, _Alias(real), is_package=package)


def _exists(name):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):
            raise  # it is there, and needs what is not
        return False
    return True


if not any(getattr(f, "__module__", "") == __name__ for f in sys.meta_path):  # reloaded
    sys.meta_path.insert(0, _Finder)  # before the one by files, which would load a module once more
