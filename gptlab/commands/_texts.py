"""Texts to learn from: files, and folders with files in them."""

from pathlib import Path

from gptlab._refuse import refuse


def read_texts(paths: list[str]) -> tuple[list[str], list[Path]]:
    """The texts, in the order of their names, and the files of folders that are no UTF-8 and were left out.

    Hidden files are passed over. ValueError for a path that is not there, a file named by itself that is no UTF-8, and
    where nothing at all is left.
    """
    from gptlab.tokenizer import read_text

    texts, left_out = [], []
    for path in map(Path, paths):
        if not path.exists():
            raise refuse("--data", str(path), "a text file or a folder of texts; there is nothing of that name")
        for file in _files(path):
            try:
                texts.append(read_text(file))
            except UnicodeDecodeError as error:
                if file == path:
                    raise refuse("--data", str(path), f"text in UTF-8: byte {error.start:,} is none") from error
                left_out.append(file)
    texts = [text for text in texts if text.strip()]
    if not texts:
        raise refuse("--data", " ".join(paths), "a file or a folder with some text in UTF-8")
    return texts, left_out


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = (file for file in path.rglob("*") if file.is_file())
    return sorted(file for file in found if not any(part.startswith(".") for part in file.relative_to(path).parts))
