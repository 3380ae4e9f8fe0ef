#include "cli/internal/script/python_imports.h"

#include <gmock/gmock.h>

namespace muster::cli::python_imports_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PythonImports, EveryFormOfAnImport) {
    EXPECT_THAT(imported_modules("import torch\n"), ElementsAre("torch"));
    EXPECT_THAT(imported_modules("import torch.nn as nn, os, numpy as np"),
                ElementsAre("torch", "os", "numpy"));
    EXPECT_THAT(imported_modules("from torch.nn import functional as F"), ElementsAre("torch"));
    EXPECT_THAT(imported_modules("from tensorflow import (\n  keras,\n  data)\n"),
                ElementsAre("tensorflow"));
    EXPECT_THAT(imported_modules("def f():\n    import jax; import flax\n"),
                ElementsAre("jax", "flax"));
    EXPECT_THAT(imported_modules("try: import horovod.torch as hvd\nexcept ImportError: pass\n"),
                ElementsAre("horovod"));
    EXPECT_THAT(imported_modules("import a,\\\n  b\r\nimport c\r\n"), ElementsAre("a", "b", "c"));
    EXPECT_THAT(
        imported_modules("from .model import Net\nfrom . import data, (x)\nfrom .. import (far)\n"),
        ElementsAre("model", "data", "far"));
    EXPECT_THAT(imported_modules("import torch\nimport torch.nn\n"), ElementsAre("torch"));
}

TEST(PythonImports, WhatOnlyLooksLikeOne) {
    EXPECT_THAT(imported_modules("# import torch\nx = 'import jax'\n"), IsEmpty());
    EXPECT_THAT(imported_modules("\"\"\"\nimport torch\n\"\"\"\n'''\nfrom jax import x\n'''"),
                IsEmpty());
    EXPECT_THAT(imported_modules("important = 1\nfrom_here = import_it\nx.import_(torch)\n"),
                IsEmpty());
    EXPECT_THAT(imported_modules("yield from torch\n"), IsEmpty());
    EXPECT_THAT(imported_modules("x = '\\'import torch'\nimport os\n"), ElementsAre("os"));
    EXPECT_THAT(imported_modules("f = 'not closed\nimport os\n"), ElementsAre("os"));
}

TEST(PythonImports, AnythingEndsWithoutHarm) {
    EXPECT_THAT(imported_modules(""), IsEmpty());
    EXPECT_THAT(imported_modules("'''never closed import x"), IsEmpty());
    EXPECT_THAT(imported_modules("import"), IsEmpty());
    EXPECT_THAT(imported_modules("from"), IsEmpty());
    EXPECT_THAT(imported_modules("'\\"), IsEmpty());
    EXPECT_THAT(imported_modules("\\"), IsEmpty());
    EXPECT_THAT(imported_modules(std::string(1 << 20, '(')), IsEmpty());
    std::string many;
    for (int i = 0; i < 50'000; ++i) many += "import a" + std::to_string(i) + "\n";
    EXPECT_EQ(imported_modules(many).size(), 50'000);
}

}  // namespace
}  // namespace muster::cli::python_imports_test
