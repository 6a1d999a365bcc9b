import json
import subprocess
import sys


def test_a_programs_command_line_is_kept_without_its_secrets(cli, environ):
    """The capture is made inside a training script that was given tokens."""
    (cli.folder / "train.py").write_text(
        "from aorta.instrumentation import capture_to\ncapture_to('env.json', sections=['python_version'])\n"
    )
    words = ["--hub_token", "hf_notreal", "--password=notreal", "--api-key", "notreal", "--lr", "0.1"]
    subprocess.run(
        [sys.executable, "train.py", *words], cwd=cli.folder, env=environ(), check=True, timeout=100
    )
    text = (cli.folder / "env.json").read_text()
    assert "notreal" not in text
    argv = json.loads(text)["collection"]["argv"]
    assert argv[0] == "train.py"
    assert argv[1] == "--hub_token" and argv[-2:] == ["--lr", "0.1"]
    assert len(argv) == 1 + len(words)
