"""What ./dev does with the folder it is called from."""

import os
import subprocess

from built import ROOT


def test_python_runs_where_it_is_called(tmp_path):
    (tmp_path / "script.py").write_text("import os, lathe; print(os.getcwd())")
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run(
        [ROOT / "dev", "python", "script.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [str(tmp_path)], done.stderr
