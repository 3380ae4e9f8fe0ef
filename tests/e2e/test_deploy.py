"""The systemd unit that comes with muster."""

import shutil
import subprocess

import pytest

from conftest import BINARY, ROOT


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze here")
def test_systemd_takes_the_unit(tmp_path):
    text = (ROOT / "deploy" / "muster.service").read_text()
    unit = tmp_path / "muster.service"
    # The program has to be there, and so has the user.
    assert "ExecStart=/usr/local/bin/muster up" in text and "User=muster\n" in text
    unit.write_text(text.replace("/usr/local/bin/muster", str(BINARY)).replace("User=muster\n", ""))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], text=True, capture_output=True,
                          timeout=60, check=False)
    said = [line for line in done.stderr.splitlines() if "muster.service" in line]
    assert done.returncode == 0 and not said, done.stderr
