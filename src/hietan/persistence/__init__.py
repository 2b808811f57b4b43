"""Models as files: a zip archive of plain arrays (`.npy`) and JSON. Nothing in it can run, so it may come from anyone.

Why not skops: it trusts types, not values, and would set the state of an object exactly as the file says. Here every
number that the compiled kernel relies on is checked on reading, a hierarchy is built again by its own constructor, and
what follows from the counts (trees, rankings) is not stored at all. The price is that only the classifiers of this
package can be stored, alone or within the few wrappers of `STORABLE`; for others skops is the right tool.

An estimator is stored as its parameters (`get_params`) and its fitted attributes; to load it, a new one with those
parameters is given the attributes. Which class a name in a file means is looked up in a table, never imported.
"""

from hietan.exceptions import ModelFileError
from hietan.persistence._checks import MAX_TREE_ROWS
from hietan.persistence._estimators import CLASSIFIERS, STORABLE
from hietan.persistence.files import is_model, load, read_metadata, save

__all__ = [
    "CLASSIFIERS",
    "MAX_TREE_ROWS",
    "STORABLE",
    "ModelFileError",
    "is_model",
    "load",
    "read_metadata",
    "save",
]
