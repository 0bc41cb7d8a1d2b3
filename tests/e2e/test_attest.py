"""Attestations as people use them: made in one clone, checked and run again in another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from tests.governed import CART, GOOD, environment, script, shop
from tests.repos import git, put
from tests.sigstore_services import Sigstore, serving

from flyball.cli.attest import attest
from flyball.cli.run import run
from flyball.cli.verify import verify
from flyball.errors import BadAttestation, NotFound, UsageError

ACTION = Path(__file__).parents[2] / "action.yml"
NO_IDENTITY = """\
import os, unittest

class JobTest(unittest.TestCase):
    def test_nothing_of_the_job_is_seen(self):
        self.assertEqual([name for name in os.environ if name.startswith("ACTIONS_")], [])
"""
MENDED = CART.replace("result += price", "result += price * quantity")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    shop(tmp_path / "shop")
    put(tmp_path / "shop", {"cart.py": MENDED})
    git(tmp_path / "shop", "commit", "-q", "-a", "-m", "fix the total")
    return tmp_path


def call(place: Path, *args: str, repo: str = "shop") -> Result:
    return CliRunner(env=environment(place)).invoke(attest, [*args, "--repo", str(place / repo)])


def made(place: Path, *args: str) -> Path:
    file = place / "verdict.json"
    repo = ("--repo", str(place / "shop"))
    asked = ("--base", "HEAD^", "--head", "HEAD", "--attest", str(file), *args, *repo)
    done = CliRunner(env=environment(place)).invoke(verify, asked)
    assert done.exit_code == 0, done.output
    return file


def test_verdict_made_in_one_clone_is_checked_and_run_again_in_another(place: Path):
    line = json.loads(call(place, "key", "--json").stdout)["allowed_signer"]
    (place / "signers").write_text(f"{line}\n")
    file = str(made(place))
    git(place, "clone", "-q", str(place / "shop"), "clone")
    signers = ("--allowed-signers", str(place / "signers"))
    told = json.loads(call(place, "check", file, "--json", *signers, repo="clone").stdout)
    assert told["status"] == "shown" and told["signatures"][0]["signer"] in line
    again = call(place, "rerun", file, "--json", repo="clone")
    assert again.exit_code == 0 and json.loads(again.stdout)["result"] == "same", again.output
    other = call(place, "check", file, "--head", "HEAD^", repo="clone")
    assert isinstance(other.exception, BadAttestation) and other.exception.place == "subject"


def test_wrong_outcome_shows_when_the_verdict_is_run_again(place: Path):
    git(place / "shop", "commit", "-q", "--allow-empty", "-m", "nothing")
    put(place / "shop", {"cart.py": f"{MENDED}\n\nimport platform\n"})
    git(place / "shop", "commit", "-q", "-a", "-m", "another tree")
    git(place / "shop", "reset", "-q", "--hard", "HEAD^^")
    file = made(place, "--key", "none")
    changed = rewritten(file, lambda inner: inner["runs"][0].update(exit_code=0))
    for verb in ("check", "rerun", "note"):
        refused = call(place, verb, changed).exception
        assert isinstance(refused, BadAttestation) and refused.place == "runs"
    assert call(place, "check", str(file)).exit_code == 0
    (place / "empty").mkdir()
    git(place / "empty", "init", "-q")
    git(place / "empty", "commit", "-q", "--allow-empty", "-m", "start")
    elsewhere = call(place, "rerun", str(file), "--json", repo="empty")
    assert elsewhere.exit_code == 3 and json.loads(elsewhere.stdout)["result"] == "cannot run"


def rewritten(file: Path, change: Any) -> str:
    """Write the attestation again with another content, unsigned."""
    import base64

    envelope = json.loads(file.read_bytes())
    plain = json.loads(base64.b64decode(envelope["payload"]))
    change(plain["predicate"]["flyball_verdict"])
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    told = {**envelope, "payload": base64.b64encode(text.encode()).decode()}
    other = file.with_name("changed.json")
    other.write_text(json.dumps(told, sort_keys=True, separators=(",", ":")) + "\n")
    return str(other)


def test_attestation_travels_in_the_notes_of_its_commit(place: Path):
    file = str(made(place))
    assert isinstance(call(place, "check").exception, NotFound)
    assert call(place, "note", file).exit_code == 0
    git(place, "clone", "-q", str(place / "shop"), "clone")
    git(place / "clone", "fetch", "-q", "origin", "refs/notes/flyball:refs/notes/flyball")
    assert call(place, "check", repo="clone").exit_code == 0


def test_merge_commit_names_its_attestation(place: Path):
    file, repo = str(made(place, "--key", "none")), place / "shop"
    line = call(place, "trailer", file).output.strip()
    git(repo, "branch", "fix")
    for message, code in ((line, 0), (f"{line[:-64]}{'0' * 64}", 2)):
        git(repo, "reset", "-q", "--hard", "fix^")
        git(repo, "merge", "-q", "--no-ff", "fix", "-m", "Merge fix", "-m", message)
        found = call(place, "check", file)
        assert bool(found.exception) is bool(code), found.output
        if isinstance(found.exception, BadAttestation):
            assert found.exception.place == "the trailer of the commit"


def test_working_tree_is_attested_and_found_again_once_it_is_committed(place: Path):
    put(place / "shop", {"cart.py": f"{MENDED}\n\nRATE = 2\n"})
    file, repo = place / "verdict.json", ("--repo", str(place / "shop"))
    asked = ("--base", "HEAD^", "--attest", str(file), *repo)
    CliRunner(env=environment(place)).invoke(verify, asked)
    assert isinstance(call(place, "check", str(file)).exception, BadAttestation)
    git(place / "shop", "commit", "-q", "-a", "-m", "rate")
    assert call(place, "check", str(file)).exit_code == 0


@pytest.fixture
def services(place: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Sigstore]:
    """A Sigstore on the loopback, and the environment of a job that it vouches for."""
    with serving() as found:
        (place / "trust.json").write_text(found.trust_config())
        for name, value in found.environment().items():
            monkeypatch.setenv(name, value)
        yield found


def test_job_of_a_ci_signs_and_another_clone_checks_its_identity(place: Path, services: Sigstore):
    config = ("--trust-config", str(place / "trust.json"))
    file = str(made(place, "--key", "sigstore", *config))
    for name in services.environment():
        os.environ.pop(name)
    git(place, "clone", "-q", str(place / "shop"), "clone")
    who = ("--identity", services.identity, "--issuer", services.issuer)
    told = json.loads(call(place, "check", file, *who, *config, "--json", repo="clone").stdout)
    assert told["signatures"][0]["signer"] == services.identity
    anyone = call(place, "check", file, *config, repo="clone")
    assert anyone.exit_code == 0 and "not trusted" in anyone.output
    half = call(place, "check", file, *who[:2], *config, repo="clone")
    assert isinstance(half.exception, UsageError)
    other = call(place, "check", file, *who[:3], "https://other.example", *config, repo="clone")
    assert isinstance(other.exception, BadAttestation)
    assert other.exception.place == "signatures[0].issuer"
    again = call(place, "rerun", file, "--json", repo="clone")
    assert json.loads(again.stdout)["result"] == "same"


def test_tests_of_a_change_cannot_ask_for_the_identity_of_its_job(place: Path, services: Sigstore):
    put(place / "shop", {"test_job.py": NO_IDENTITY})
    git(place / "shop", "add", "-A")
    git(place / "shop", "commit", "-q", "-m", "look for the job's identity")
    assert services.environment().keys() <= os.environ.keys()
    made(place, "--key", "none")


def test_agent_reads_no_signing_key(place: Path):
    key = json.loads(call(place, "key", "--json").stdout)["key"]
    flyball = str(Path(sys.executable).with_name("flyball"))
    env = {**environment(place), "PATH": os.environ["PATH"]}
    for words in (
        ("command", "--phase", "recon", f"cat {key}"),
        ("command", "--phase", "execute", f"cp {key} notes.txt"),
        ("command", "--phase", "execute", f"cat {Path(key).parent}/*"),
        ("command", "--phase", "execute", f"tar c {Path(key).parent}"),
        ("confined", "--read-only", "--", "cat", key),
        ("confined", "--project", "--", "cat", key),
    ):
        done = subprocess.run(
            [flyball, *words], cwd=place / "shop", env=env, capture_output=True, check=False
        )
        assert done.returncode != 0, words
        assert b"PRIVATE KEY" not in done.stdout


def repaired(place: Path) -> list[Path]:
    """Let a scripted run repair the shop; return the attestations it leaves."""
    git(place / "shop", "reset", "-q", "--hard", "HEAD^")
    driver = script(place / "s", *GOOD)
    asked = ("fix the total", "--intent", "small_fix", "--driver", driver)
    done = CliRunner(env=environment(place)).invoke(run, [*asked, "--repo", str(place / "shop")])
    assert done.exit_code == 0, done.output
    return sorted((place / "shop" / ".flyball" / "artifacts").rglob("*.intoto.json"))


def test_card_that_was_shown_is_attested_and_can_be_run_again(place: Path):
    line = json.loads(call(place, "key", "--json").stdout)["allowed_signer"]
    (file,) = repaired(place)
    asked = (str(file), "--head", f"flyball/{file.parent.name}")
    told = json.loads(call(place, "check", *asked, "--json").stdout)
    assert told["signatures"][0]["fingerprint"]
    attested = told["statement"]["predicate"]["flyball_verdict"]
    assert attested["run"] == file.parent.name and attested["request"] == "fix the total"
    (place / "signers").write_text(f"{line}\n")
    trusted = call(place, "check", *asked, "--allowed-signers", str(place / "signers"))
    assert trusted.exit_code == 0, trusted.output
    again = call(place, "rerun", str(file), "--json")
    assert json.loads(again.stdout)["result"] == "same", again.output


def test_key_that_cannot_sign_ends_no_run(place: Path):
    key = Path(json.loads(call(place, "key", "--json").stdout)["key"])
    key.write_text("no key\n")
    (file,) = repaired(place)
    told = call(place, "check", str(file), "--head", f"flyball/{file.parent.name}", "--json")
    assert json.loads(told.stdout)["signatures"] == []


def steps_of_the_action() -> dict[str, str]:
    return {
        step["name"]: step["run"] for step in yaml.safe_load(ACTION.read_text())["runs"]["steps"]
    }


@pytest.mark.parametrize(("fail_on", "status", "code"), [
    ("not-shown", "shown", 0), ("not-shown", "question", 0), ("not-shown", "not-shown", 1),
    ("question", "question", 1), ("question", "shown", 0), ("never", "not-shown", 0),
    ("sometimes", "not-shown", 2),
])  # fmt: skip
def test_action_fails_as_configured(fail_on: str, status: str, code: int):
    env = {**os.environ, "STATUS": status, "FAIL_ON": fail_on}
    done = subprocess.run(["bash", "-ec", steps_of_the_action()["Decide"]], env=env, check=False)
    assert done.returncode == code


def run_action(place: Path, step: str, **more: str) -> subprocess.CompletedProcess[str]:
    bins = f"{place / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**os.environ, **environment(place), "PATH": bins, "BASE": "HEAD^", "HEAD": "HEAD",
           "DIRECTORY": "out", "TRUST_CONFIG": "", "GITHUB_STEP_SUMMARY": str(place / "summary"),
           "GITHUB_OUTPUT": str(place / "output"), **more}  # fmt: skip
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", steps_of_the_action()[step]],
        env=env,
        cwd=place / "shop",
        check=True,
        capture_output=True,
        text=True,
    )


def test_action_writes_every_file_and_the_summary(place: Path):
    run_action(place, "Verify", ACTIONS_ID_TOKEN_REQUEST_URL="")
    assert (place / "output").read_text() == "status=shown\n"
    assert "### Shown" in (place / "summary").read_text()
    out = place / "shop" / "out"
    assert {file.name for file in out.iterdir()} == {
        "verdict.json", "verdict.sarif", "verdict.xml", "verdict.md",
    }  # fmt: skip
    assert call(place, "check", str(out / "verdict.json")).exit_code == 0


def test_action_signs_by_the_identity_of_its_job(place: Path, services: Sigstore):
    """The job may ask for its identity, so what signs by it is installed, and used."""
    (place / "bin").mkdir()
    pip = place / "bin" / "python3"
    pip.write_text('#!/bin/sh\nfor last; do :; done; echo "$last"\n')
    pip.chmod(0o755)
    asked = run_action(place, "Install Flyball", ACTION_PATH="here").stdout
    assert asked == "here[verify,sigstore]\n"
    pip.unlink()
    config = str(place / "trust.json")
    run_action(place, "Verify", TRUST_CONFIG=config)
    file = str(place / "shop" / "out" / "verdict.json")
    who = ("--identity", services.identity, "--issuer", services.issuer)
    assert call(place, "check", file, *who, "--trust-config", config).exit_code == 0
