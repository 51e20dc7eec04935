"""Which files never enter a prompt: secrets by name, what git ignores, what `.mercuryignore` names and what the user excludes. Reads no
file but those rules.

A verdict is kept until one of the files that could change it does; asking again costs one `stat` for each of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mercury_lsp.files import Fresh, stamp
from mercury_lsp.gitfiles import GitFiles
from mercury_lsp.patterns import globs, rules

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

Sources = list[tuple[Path, Path]]
"""Files with rules, the weightier first, each behind the folder that its rules are relative to."""

_SECRETS = """
.env*
*.env
*.pem
*.key
*.p8
*.p12
*.pfx
*.ppk
*.jks
*.keystore
*.keytab
*.kdbx
*.gpg
*.asc
id_rsa*
id_dsa*
id_ecdsa*
id_ed25519*
.netrc
_netrc
.pgpass
.my.cnf
.mylogin.cnf
.npmrc
.pypirc
.s3cfg
.boto
.htpasswd
.git-credentials
.vault-token
.terraformrc
.dockercfg
rclone.conf
kubeconfig
kubeconfig.y*ml
*.kubeconfig
credentials
credentials.csv
credentials.enc
credentials.ini
credentials.json
credentials.properties
credentials.toml
credentials.xml
credentials.y*ml
*_credentials.json
secrets.json
secrets.toml
secrets.y*ml
*.tfvars
*.tfvars.json
*.tfstate*
.*history
.histfile
fish_history
consolehost_history.txt
**/.git/**/config
**/.docker/config.json
**/gh/hosts.y*ml
**/.m2/settings.xml
.ssh/
.aws/
.azure/
.gnupg/
.kube/
**/.config/gcloud/
"""


class Privacy:
    """Remembers rules by their file, and verdicts by path."""

    def __init__(self) -> None:
        self._git = GitFiles()
        self._rules = Fresh(rules)
        self._secrets: GitIgnoreSpec | None = None
        self._verdicts: dict[Path, tuple[list[tuple[Path, int]], bool]] = {}
        self._excluded: tuple[Sequence[Path], GitIgnoreSpec] | None = None

    def exclude(self, patterns: Sequence[str], roots: Sequence[str]) -> None:
        """From now on what `patterns` name is hidden as well, from the top of each of `roots` on: globs as `patterns.globs` says."""
        self._excluded = ([Path(root) for root in roots], globs(patterns)) if patterns else None

    def hides(self, path: str) -> bool:
        """Whether the file at `path`, or the one that it is a link to, must stay out of prompts. There need not be a file."""
        return any(self._is_excluded(Path(name)) or self._hides(Path(name)) for name in dict.fromkeys((path, _real(path))))

    def sieve(self, folder: Path) -> Callable[[str, bool], bool]:
        """Tells of what lies in `folder`, which is not hidden itself, whether it must stay out: by its name, and whether it is a folder.

        For those who look through many files: the rules are read once, now.
        """
        families = [
            [
                (rules, "".join(f"{step}/" for step in folder.relative_to(top).parts))
                for top, source in sources
                if (rules := self._rules(source)).patterns
            ]
            for sources in self._families(folder / "file")
        ]

        def hides(name: str, is_folder: bool) -> bool:
            ending = "/" if is_folder else ""
            named = self._is_excluded(folder / name) or (not is_folder and self._is_secret(folder / name))
            return named or any(_first(rules.check_file(way + name + ending).include for rules, way in family) for family in families)

        return hides

    def _hides(self, file: Path) -> bool:
        families = self._families(file)
        stamps = [(source, stamp(source)) for sources in families for _, source in sources]
        known = self._verdicts.get(file)
        if known is None or known[0] != stamps:
            hidden = self._is_secret(file) or any(self._ignored(file, sources) for sources in families)
            known = self._verdicts[file] = (stamps, hidden)
        return known[1]

    def _is_excluded(self, file: Path) -> bool:
        if self._excluded is None:
            return False
        roots, spec = self._excluded
        return any(spec.match_file(file.relative_to(root).as_posix()) for root in roots if root in file.parents)

    def _is_secret(self, file: Path) -> bool:
        if self._secrets is None:
            self._secrets = rules(_SECRETS.split())
        return self._secrets.match_file(file.as_posix().lstrip("/").lower())

    def _families(self, file: Path) -> list[Sources]:
        """Git's rules and ours: each family decides alone."""
        folders = _folders(file)
        if not folders:
            return []
        shared = [(folders[-1], source) for source in self._git.ignore_files(folders[-1])]
        git, ours = ([(folder, folder / name) for folder in folders] for name in (".gitignore", ".mercuryignore"))
        return [git + shared, ours]

    def _ignored(self, file: Path, sources: Sources) -> bool:
        """As git decides: the last matching line of the weightiest file wins, but nothing in an ignored folder comes back."""
        top = sources[-1][0]
        steps = file.relative_to(top).parts
        targets = [top.joinpath(*steps[:depth]) for depth in range(1, len(steps) + 1)]
        return any(self._excludes(sources, target, is_folder=target != file) for target in targets)

    def _excludes(self, sources: Sources, target: Path, *, is_folder: bool) -> bool:
        """What the rules say of `target` itself."""
        ending = "/" if is_folder else ""
        return _first(
            self._rules(source).check_file(target.relative_to(folder).as_posix() + ending).include
            for folder, source in sources
            if folder in target.parents
        )


def _first(verdicts: Iterable[bool | None]) -> bool:
    """The weightiest verdict; not hidden where there is none."""
    return next((verdict for verdict in verdicts if verdict is not None), False)


def _real(path: str) -> str:
    """Without links. A name that is no path in the file system stays as it is."""
    try:
        return os.path.realpath(path) if Path(path).is_absolute() else path
    except (OSError, ValueError):
        return path


def _folders(file: Path) -> list[Path]:
    """The file's folders, nearest first, up to the top of its repository, or to the root where there is none."""
    folders: list[Path] = []
    for folder in file.parents if file.is_absolute() else ():
        folders.append(folder)
        if stamp(folder / ".git"):
            break
    return folders
