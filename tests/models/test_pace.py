"""How the arrays of a model file are stored."""

import zipfile

import numpy as np

import hietan
from hietan import HieTANLite
from hietan.datasets import make_hierarchical_classification

DATA = make_hierarchical_classification(60, 20, random_state=1)


def test_arrays_are_compressed_on_request(tmp_path):
    model = HieTANLite(hierarchy=DATA.hierarchy, random_state=0).fit(DATA.X, DATA.y)
    kinds = {}
    for compressed in (False, True):
        path = tmp_path / f"{compressed}.hietan"
        hietan.save(model, path, compressed=compressed)
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
        kinds[compressed] = {info.compress_type for info in members}
        assert np.array_equal(hietan.load(path).predict_proba(DATA.X), model.predict_proba(DATA.X))
    assert kinds == {False: {zipfile.ZIP_STORED}, True: {zipfile.ZIP_DEFLATED}}
