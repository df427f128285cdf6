from . import _methods
from .abstract import *
from .arithmetic import *
from .constants import *
from .creation import *
from .floats import *
from .indexing import *
from .linear import *
from .logic import *
from .nan_reductions import *
from .reductions import *
from .scalar_types import *
from .selection import *
from .shaping import *
from .sorting import *
from .ufuncs import *

_methods.install()
