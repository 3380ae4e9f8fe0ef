"""The examples of `muster VERB --help` are run, or at least read by their programs: test_doc_commands.py says how, and has the exceptions."""

import pytest

from test_doc_commands import BLOCKS, RUN, check_run, check_words, in_help, own_world, shared_world  # noqa: F401  (fixtures)
from test_up import needs_kubectl

pytestmark = needs_kubectl


@pytest.mark.parametrize("where", dict.fromkeys(block.where for block in BLOCKS if in_help(block)))
def test_programs_understand_the_examples(tmp_path, where):
    check_words(tmp_path, where)


@pytest.mark.parametrize("block", [block for block in RUN if in_help(block)], ids=str)
def test_the_examples_work(request, block):
    check_run(request, block)
