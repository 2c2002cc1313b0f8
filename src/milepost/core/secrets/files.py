"""Files that hold secrets by their very name: what is in them is never shown to a model."""

from __future__ import annotations

import re

_EXAMPLE = re.compile(r"(?i)(^|[._-])(example|sample|template|dist|defaults?)([._-]|$)")
_NAMES = re.compile(
    r"""(?ix)
    \.env | \.env\..+ | .+\.env | \.envrc | \.netrc | _netrc | \.npmrc | \.pypirc | \.pgpass | \.my\.cnf | \.htpasswd
    | \.git-credentials | \.dockercfg | \.vault[-_]pass.* | id_(rsa|dsa|ecdsa|ed25519)(\.\w+)?
    | .+\.(pem|key|p12|pfx|p8|jks|keystore|kdbx|ppk|asc|gpg|age|tfvars|tfstate) | .+\.tfstate\.backup
    | (credentials?|secrets?|service[-_]?account.*)(\.(json|ya?ml|toml|ini|txt|env|enc|properties))? | kubeconfig
    """
)
_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker"})


def holds_secrets(path: str) -> bool:
    """Whether a file holds secrets, by its path; one that is only an example does not."""
    *folders, name = path.split("/")
    return bool(_FOLDERS.intersection(folders)) or (bool(_NAMES.fullmatch(name)) and not is_example(path))


def is_example(path: str) -> bool:
    """Whether a file only shows how one with secrets is written: its names are of use, its values are not."""
    return _EXAMPLE.search(path.rpartition("/")[2]) is not None
