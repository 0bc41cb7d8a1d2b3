import json
from pathlib import Path

WORDS = json.loads((Path(__file__).parent / 'de.json').read_text())


def word(name):
    return WORDS.get(name, name)
