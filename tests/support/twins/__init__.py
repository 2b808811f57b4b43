"""Plain Python twins of everything the compiled kernel computes.

They follow the definitions word by word and take no short cut: sets of edges, Python integers and floats,
propagation until nothing changes, connection by walking the graph. Slow, and meant to be read.

Conventions. Features are 0..d-1, classes 0..C-1. A hierarchy is `ancestors`, one set of features per
feature, transitive. A tree is a list of parents: `ROOT` for its root, `ABSENT` for a feature that is not in
it. A ranking is a list of pairs (i, j), i < j, best first.

Wherever a rule could be got wrong, it is a field of `Rules`; `MUTANTS` holds wrong versions, so that a test
can show that a comparison notices them.
"""

from support.twins.counts import *  # noqa: F403
from support.twins.graphs import *  # noqa: F403
from support.twins.mutants import *  # noqa: F403
from support.twins.openings import *  # noqa: F403
from support.twins.rules import *  # noqa: F403
from support.twins.scores import *  # noqa: F403
from support.twins.selections import *  # noqa: F403
from support.twins.trees import *  # noqa: F403
