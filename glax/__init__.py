"""glax: a function is staged once into a frozen program, and every transformation is a rewrite of programs."""

# Importing it installs the answers to what Python asks of staged values; nothing else leads to it.
from . import _concrete as _concrete
from . import (
    ad_checkpoint,
    checkpoint_policies,
    core,
    custom_batching,
    custom_derivatives,
    debug,
    errors,
    experimental,
    extend,
    flatten_util,
    interp,
    ir,
    lax,
    lower,
    nn,
    numpy,
    ops,
    random,
    rewrite,
    scipy,
    stages,
    tree,
    tree_util,
)
from ._callbacks import pure_callback
from ._checkpoint import checkpoint, remat
from ._custom_jvp import custom_jvp
from ._custom_vjp import custom_vjp
from ._forward import jvp, linearize
from ._grid import rules
from ._inspect import ShapeDtypeStruct, eval_shape, make_jaxpr
from ._jacobians import hessian, jacfwd, jacobian, jacrev
from ._jit import jit
from ._nan_checks import debug_infs, debug_nans
from ._reverse import grad, linear_transpose, value_and_grad, vjp
from ._values import (
    block_until_ready,
    clear_caches,
    default_backend,
    default_matmul_precision,
    device_count,
    device_get,
    device_put,
    devices,
    disable_jit,
    effects_barrier,
    ensure_compile_time_eval,
    live_arrays,
    local_device_count,
    local_devices,
    numpy_dtype_promotion,
    typeof,
)
from ._vmap import vmap
from .custom_derivatives import closure_convert, custom_gradient
from .ir.config import config, enable_x64
from .ir.dtypes import float0
from .numpy import ndarray as Array

__version__ = "0.1.0"

__all__ = [
    "Array", "ShapeDtypeStruct", "ad_checkpoint", "block_until_ready", "checkpoint", "checkpoint_policies",
    "clear_caches", "closure_convert", "config", "core", "custom_batching", "custom_derivatives", "custom_gradient",
    "custom_jvp", "custom_vjp", "debug", "debug_infs", "debug_nans", "default_backend", "default_matmul_precision",
    "device_count", "device_get", "device_put", "devices", "disable_jit", "effects_barrier", "enable_x64",
    "ensure_compile_time_eval", "errors", "eval_shape", "experimental", "extend", "flatten_util", "float0", "grad",
    "hessian", "interp", "ir", "jacfwd", "jacobian", "jacrev", "jit", "jvp", "lax", "linear_transpose", "linearize",
    "live_arrays", "local_device_count", "local_devices", "lower", "make_jaxpr", "nn", "numpy",
    "numpy_dtype_promotion", "ops", "pure_callback", "random", "remat", "rewrite", "rules", "scipy", "stages",
    "testing", "tree", "tree_util", "typeof", "value_and_grad", "vjp", "vmap",
]


def __getattr__(name: str) -> object:
    if name == "testing":  # imported when asked for: programs that are not tests never need it
        from importlib import import_module
        return import_module(".testing", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
