"""Our answers to expressions at random beside those of cel-go, as kube-apiserver has it.

cel_comparison.py CEL_LINES [--count N] [--seed N]: the program of src/cel, and how many expressions (100,000).
"""

import argparse
import collections
import json
import subprocess

import cel_expressions
import programs

# Errors that have other texts. Which functions a missing overload names, and the types of which, is by accident in cel-go.
SAME = [("no such overload", "no such overload"), ("unsupported index type 'null_type'", "invalid qualifier type")]


def answers(program, questions):
    """Of one process, in the order of the questions: (expression, object)."""
    lines = "".join(json.dumps({"expression": expression, "object": document}) + "\n" for expression, document in questions)
    done = subprocess.run([str(program)], input=lines, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def kind(answer):
    return next(word for word in ("panic", "refused", "error", "value") if word in answer)


def difference(ours, theirs):
    """What differs: "kind", "value", "error", "cost" or "estimate"; None if nothing does. Which of several reasons for a refusal
    comes first may."""
    if kind(theirs) == "panic":
        return None
    if kind(ours) != kind(theirs):
        return "kind"
    if kind(ours) == "refused":
        return None
    for ours_says, theirs_says in SAME:
        if ours.get("error", "").startswith(ours_says) and theirs["error"].startswith(theirs_says):
            ours, theirs = {**ours, "error": ""}, {**theirs, "error": ""}
    # What is paid beyond the limit differs: ours pays before it calls.
    if theirs.get("error", "").endswith("actual cost limit exceeded") and ours.get("error") == theirs["error"]:
        ours, theirs = {**ours, "cost": 0}, {**theirs, "cost": 0}
    for name, word in (("value", "value"), ("error", "error"), ("most", "estimate"), ("cost", "cost")):
        if ours.get(name, 0) != theirs.get(name, 0):
            return word
    return None


def differences(ours, theirs, seed, count):
    """(what, expression, object, our answer, theirs) of each expression whose answers differ."""
    questions = list(cel_expressions.questions(seed, count))
    found = []
    for (expression, document), mine, other in zip(questions, answers(ours, questions), answers(theirs, questions), strict=True):
        if what := difference(mine, other):
            found.append((what, expression, document, mine, other))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cel_lines")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args()
    found = differences(options.cel_lines, programs.build("cel-go"), options.seed, options.count)
    for what, expression, document, mine, other in sorted(found, key=lambda each: len(each[1]))[:20]:
        print(f"{what}: {expression}\n    of:     {json.dumps(document)}\n    ours:   {json.dumps(mine)}\n    cel-go: {json.dumps(other)}")
    print(f"{options.count} expressions (seed {options.seed}): {dict(collections.Counter(each[0] for each in found)) or 'no difference'}")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
