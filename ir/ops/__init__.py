"""The operations, by family, and a function that applies each to values or tracers."""

from .call import *
from .checkpoint import *
from .checks import *
from .control import *
from .custom import *
from .effects import *
from .elementwise import *
from .implicit import *
from .indexing import *
from .linear import *
from .random import *
from .reduction import *
from .shape import *
