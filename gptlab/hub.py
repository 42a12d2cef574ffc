"""Published weights from the Hugging Face hub: fetched once, checked, kept in that library's cache.

The library `huggingface_hub` is an extra and is imported when something is fetched. What it keeps is named after its
checksum, and is held against it before it is used, so that a file that was damaged on the way is fetched again and
never loaded.
"""

import hashlib
import re
from pathlib import Path

from gptlab._refuse import refuse

PREFIX = "hub:"
PUBLISHED = {
    "gpt1": "openai-community/openai-gpt",
    "gpt2": "openai-community/gpt2",
    "gpt2-medium": "openai-community/gpt2-medium",
    "gpt2-large": "openai-community/gpt2-large",
    "gpt2-xl": "openai-community/gpt2-xl",
}
_WANTED = [
    "config.json", "model*.safetensors", "model.safetensors.index.json", "vocab.json", "merges.txt", "tokenizer.json",
]  # fmt: skip
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def fetch(name: str) -> Path:
    """The folder with a published model, fetched with a progress bar if it is not there yet.

    name: "gpt2" and the like, or "hub:owner/name". ImportError without the extra, ConnectionError where the hub
    cannot be reached or breaks off, each in a sentence that says what to do; ValueError for no such repository.
    """
    repository = PUBLISHED.get(name, name.removeprefix(PREFIX))
    if not _REPOSITORY.fullmatch(repository):
        raise refuse("name_or_path", name, f"one of {', '.join(PUBLISHED)}, or {PREFIX}owner/name")
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError, RepositoryNotFoundError
    except ImportError as missing:
        need = "pip install 'gptlab[hub]', or fetch the folder elsewhere and give its path"
        raise ImportError(f"gptlab.load({name!r}) needs the library huggingface_hub: {need}") from missing
    what_to_do = "try again with a network, or fetch the folder elsewhere and give its path"
    try:
        folder = Path(snapshot_download(repository, allow_patterns=_WANTED))
    except RepositoryNotFoundError as error:
        raise refuse("name_or_path", name, f"a repository of the hub; there is no {repository}") from error
    except LocalEntryNotFoundError as error:
        gone = f"{repository} is not in the cache, and the hub cannot be reached"
        raise ConnectionError(f"{gone}: {what_to_do}") from error
    except Exception as error:  # whatever the library meets on the way: nothing of it is a model
        reason = " ".join(str(error).split())
        raise ConnectionError(f"{repository} was not fetched ({reason}): {what_to_do}") from error
    _check(folder)
    return folder


def _check(folder: Path) -> None:
    """Hold each large file against the checksum that its name in the cache is; a damaged one is taken out."""
    for file in sorted(folder.glob("*.safetensors")):
        kept = file.resolve()
        if _SHA256.fullmatch(kept.name) and _sha256(kept) != kept.name:
            kept.unlink()
            file.unlink(missing_ok=True)
            raise ConnectionError(f"{file.name} was damaged on the way and has been taken out: load it again")


def _sha256(path: Path) -> str:
    total = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            total.update(block)
    return total.hexdigest()
