"""Pages of the documentation agree with each other and with the code."""

import re
from pathlib import Path

import pytest

DOC = Path(__file__).parents[1] / "doc"

pytestmark = pytest.mark.skipif(not DOC.exists(), reason="needs a checkout of the project")


def glossary_terms():
    """Each term of the glossary."""
    page = (DOC / "glossary.rst").read_text("utf-8")
    listing = page.split(".. glossary::")[1].split("\nWords to avoid")[0]
    return re.findall(r"^   (\w[^:\n]*)$", listing, re.MULTILINE)


def test_the_glossary_has_about_thirty_terms():
    assert 25 <= len(glossary_terms()) == len(set(glossary_terms())) <= 40


@pytest.mark.parametrize("term", glossary_terms() if DOC.exists() else [])
def test_words_of_the_glossary_are_used_in_the_guide(term):
    text = " ".join(page.read_text("utf-8") for page in (DOC / "user_guide").rglob("*.rst"))
    words = re.escape(term).replace(r"\ ", r"[-\s]+")
    assert re.search(rf"\b{words}", text, re.IGNORECASE)


def test_words_to_avoid_have_no_entry():
    page = (DOC / "glossary.rst").read_text("utf-8").split("Words to avoid")[1]
    avoided = re.findall(r"^(\w+)[^\n]*  \w", page, re.MULTILINE)
    assert len(avoided) > 10
    assert not {word.lower() for word in glossary_terms()} & set(avoided)
