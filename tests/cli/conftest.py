"""How the tests of commands run one."""

import pytest
from typer.testing import CliRunner

from hietan.cli._app import make_app


@pytest.fixture(scope="session")
def run():
    app = make_app()
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])
