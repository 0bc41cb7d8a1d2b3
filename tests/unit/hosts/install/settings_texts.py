"""Settings files as people have them, for hosts that read JSON."""

from __future__ import annotations

TEXTS: dict[str, str] = {
    "empty file": "",
    "only space": "\n\n",
    "bare braces": "{}",
    "bare braces with a line end": "{}\n",
    "braces over two lines": "{\n}\n",
    "a space between the braces": "{ }",
    "one line": '{"model":"opus","env":{"A":"1"}}',
    "no final line end": '{\n  "model": "opus"\n}',
    "tabs": '{\n\t"model": "opus",\n\t"permissions": {\n\t\t"allow": ["Bash(ls:*)"]\n\t}\n}\n',
    "four spaces": '{\n    "model": "opus",\n    "hooks": {\n        "Stop": []\n    }\n}\n',
    "carriage returns": '{\r\n  "model": "opus",\r\n  "hooks": {\r\n  }\r\n}\r\n',
    "byte order mark": '\ufeff{\n  "model": "opus"\n}\n',
    "empty hooks": '{\n  "hooks": {}\n}\n',
    "empty lists": '{"hooks": {"Stop": [], "PreToolUse": [ ], "BeforeTool": [\n]}}',
    "hooks of others": (
        '{\n  "hooks": {\n    "PreToolUse": [\n      {\n        "matcher": "Bash",\n'
        '        "hooks": [{"type": "command", "command": "guard.sh"}]\n      }\n    ],\n'
        '    "Notification": [{"hooks": [{"type": "command", "command": "say done"}]}]\n  }\n}\n'
    ),
    "our events used by others": (
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]},\n'
        '   {"hooks": [{"type": "command", "command": "b"}]}],\n "SessionStart": [{"hooks": []}],'
        ' "BeforeTool": [{"matcher": "*", "hooks": []}]}, "theme": "dark"}\n'
    ),
    "hooks in the middle": (
        '{\n  "z": 1,\n  "hooks": {\n    "SessionEnd": [\n      { "hooks": [ ] }\n    ]\n  },\n'
        '  "a": {"b": [1, 2.5e3, -0, null, true, "\\u00e9\\"\\\\ /* no */ // no"]}\n}\n'
    ),
    "odd spaces": '  {  "a" :1 ,"hooks"\t:\n{ "Stop"  :[ { } ]\n,"b":2}\n\n }  \n\n',
    "commas first": (
        '{\n    "a": 1\n  , "hooks": {\n      "Stop": [\n        {"x": 1}\n      ]\n  }\n}\n'
    ),
    "letters of the world": (
        '{\n  "名前": "Zoë 🦉",\n  "hooks": {"Stop": [{"say": "fertig – ß"}]}\n}\n'
    ),
    "columns at the margin": '{\n"a": 1,\n"hooks": {\n"Stop": [\n{"x": 1}\n]\n}\n}\n',
    "key given twice": '{"hooks": {"Stop": []}, "a": 1, "hooks": {"a": 1}, "a": 2}',
}
"""What strict JSON allows, and what it does not speak of."""

ODD_TEXTS: dict[str, str] = {
    "only a comment": "// nothing yet",
    "a comment on top": '// my settings\n{\n  "theme": "dark" // at night\n}\n',
    "comments everywhere": (
        '/* a */ { /* b */ "hooks" /* c */ : { // d\n    "Stop": [ // e\n      {"x": 1} // f\n'
        "      // g\n    ] /* h */ // i\n    // j\n  } // k\n} // l\n"
    ),
    "comment in an empty list": '{\n  "hooks": {\n    "Stop": [ // none\n    ]\n  }\n}\n',
    "comment in empty braces": "{ // nothing\n}\n",
    "block comment after the last": '{"a": 1 /* one\n two */ }',
    "line comment on one line": '{"a": 1 // one\n}',
    "trailing commas": (
        '{\n  "a": [1, 2,],\n  "hooks": {\n    "Stop": [\n      {"x": 1},\n    ],\n  },\n}\n'
    ),
    "trailing comma and a note": (
        '{\n  "hooks": {\n    "Stop": [{"x": 1}], // mine\n  }, // all\n}\n'
    ),
    "comment that looks like a value": '{\n  // "hooks": {"Stop": []},\n  "b": 1\n}\n',
}
"""With comments and commas that only some hosts read."""
