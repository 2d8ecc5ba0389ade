"""Credentials from the environment variables that the clients of all languages read."""
from pathlib import Path
from typing import List, Mapping, Tuple

Credentials = Tuple[str, str, List[str], str, List[str]]
NAMES = ("TILLGATE_GATEWAY_URL", "TILLGATE_MERCHANT_ID", "TILLGATE_AES_KEY", "TILLGATE_PRIVATE_KEY",
         "TILLGATE_PLATFORM_PUBLIC_KEY")


def read_environment(environment: Mapping[str, str]) -> Credentials:
    problems: List[str] = []
    url, merchant_id, aes_key, private_key, platform_public_key = (read(name, environment, problems) for name in NAMES)
    if problems:
        raise ValueError("; ".join(problems))
    return url, merchant_id, several(aes_key), private_key, several(platform_public_key)


def read(name: str, environment: Mapping[str, str], problems: List[str]) -> str:
    value, file = environment.get(name, "").strip(), environment.get(f"{name}_FILE", "").strip()
    if value and file:
        problems.append(f"{name} and {name}_FILE are both set: keep one of them")
    elif file:
        try:
            return Path(file).read_text(encoding="utf-8").strip()
        except OSError as error:
            problems.append(f"{name}_FILE is {file}: {error.strerror}")
    elif not value:
        problems.append(f"{name} is missing")
    # A .env file has a PEM on one line, with \n for its line breaks.
    return value.replace("\\n", "\n") if "-----BEGIN" in value else value


def several(text: str) -> List[str]:
    """While a key is replaced, a variable has two: separated by a comma, or one PEM after the other."""
    return [part for part in text.replace("-----\n-----BEGIN", "-----,-----BEGIN").split(",") if part.strip()]
