"""Many threads, and many processes with many threads, ask one model: every answer has the bits of the serial one."""

import json
import os
import subprocess
import sys
import sysconfig

import pytest

from hietan import load
from support.families import CLASSIFIERS, name_of
from support.faults import Faults
from support.processes import program
from support.shared_models import answers, at_once, fresh_model, saved

THREADS = 16
ROUNDS = int(os.environ.get("HIETAN_THREAD_ROUNDS", "1"))


@pytest.mark.parametrize("make", CLASSIFIERS, ids=name_of)
def test_threads_get_the_answers_of_a_single_one(make):
    """Right after `partial_fit`, too: nothing has been learned from the counts, and all threads need it at once."""
    expected = answers(fresh_model(make))
    for _ in range(ROUNDS):
        model = fresh_model(make)
        found = at_once(THREADS, lambda _, model=model: answers(model))
        assert all(said == expected for said in found)
        assert answers(model) == expected


@pytest.mark.parametrize("make", CLASSIFIERS, ids=name_of)
def test_a_model_is_saved_while_others_ask_it(make, tmp_path):
    """The odd threads save to one file, the even ones to a file each, and all ask in between."""
    model = fresh_model(make)
    expected, file = answers(model), saved(model, tmp_path / "serial.hietan")

    def work(k):
        path = tmp_path / ("shared.hietan" if k % 2 else f"{k}.hietan")
        assert saved(model, path) == file
        assert answers(load(path)) == expected
        return answers(model)

    for _ in range(ROUNDS):
        model = fresh_model(make)
        assert all(said == expected for said in at_once(THREADS, work))
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".hietan"] * (THREADS // 2 + 2)


@pytest.mark.patient
@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_processes_with_threads_share_models_and_their_files(tmp_path):
    """Four processes that load the files, four that inherit the models, 16 threads each, and one that saves."""
    call = program("share_models", tmp_path, 4, THREADS, ROUNDS)
    done = subprocess.run(**call, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    Faults("threads and processes", told["answers"], changed=told["changed"], seed=0).finish()
    assert told["answers"] == 2 * 4 * THREADS * ROUNDS
    assert told["changed"] == 0 and told["saved"] >= len(CLASSIFIERS)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python needs the GIL")
def test_the_kernel_does_not_ask_for_the_gil():
    """Python turns the GIL on, with a warning, for an extension that does not declare that it can do without."""
    code = "import sys; import hietan._kernel; sys.exit(sys._is_gil_enabled())"
    others = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, env=others)
