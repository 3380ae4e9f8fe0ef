#include "pod_tools/start/python_words.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::pod_tools::python_words_test {
namespace {

using Words = std::vector<std::string>;

TEST(PythonWords, AreThoseOfALauncher) {
    struct Case {
        Words words;
        std::string name;
        std::size_t rest = 0;
    };
    for (const Case& row : std::vector<Case>{
             {{"-m", "torch.distributed.run", "x.py"}, "torch.distributed.run", 2},
             {{"-u", "-m", "torch.distributed.launch", "x.py"}, "torch.distributed.launch", 3},
             {{"-m", "dlrover.trainer.torch.main"}, "dlrover.trainer.torch.main", 2},
             {{"-um", "torch.distributed.run"}, "torch.distributed.run", 2},
             {{"-mtorch.distributed.run", "x.py"}, "torch.distributed.run", 1},
             {{"-uBOmtorch.distributed.run"}, "torch.distributed.run", 1},
             {{"-W", "ignore", "-X", "dev", "-m", "torch.distributed.run"},
              "torch.distributed.run",
              6},
             {{"-Wignore", "-uXdev", "-OO", "-I", "-m", "torch.distributed.run", "-m", "mine"},
              "torch.distributed.run",
              6},
             {{"--check-hash-based-pycs", "never", "-m", "torch.distributed.run"},
              "torch.distributed.run",
              4},
         }) {
        EXPECT_EQ(find_launcher_module(row.words),
                  (LauncherModule{.name = row.name, .rest = row.rest}))
            << row.words.front();
    }
}

TEST(PythonWords, AreThoseOfAnythingElse) {
    for (const Words& words : std::vector<Words>{
             {},
             {"train.py"},
             {"-"},
             {"-", "-m", "torch.distributed.run"},
             {"--", "-m", "torch.distributed.run"},
             {"train.py", "-m", "torch.distributed.run"},
             {"-u", "train.py", "-m", "torch.distributed.run"},
             {"-m"},
             {"-um"},
             {"-m", "torch.distributed"},
             {"-m", "torch.distributed.runner"},
             {"-m", "pip", "-m", "torch.distributed.run"},
             {"-c", "-m", "torch.distributed.run"},
             {"-c-m", "-m", "torch.distributed.run"},
             {"-W", "-m", "torch.distributed.run"},
             {"-V", "-m", "torch.distributed.run"},
             {"-h", "-m", "torch.distributed.run"},
             {"--version", "-m", "torch.distributed.run"},
             {"-Z", "-m", "torch.distributed.run"},
             {"--check-hash-based-pycs"},
             {"-W"},
         })
        EXPECT_EQ(find_launcher_module(words), std::nullopt) << testing::PrintToString(words);
}

TEST(PythonWords, FollowThesePrograms) {
    for (const char* path : {"python", "python3", "python3.11", "/venv/bin/python", "./python3.8"})
        EXPECT_TRUE(is_python(path)) << path;
    for (const char* path : {"", "pythonw", "ipython", "python3-config", "/python/", "/python/x"})
        EXPECT_FALSE(is_python(path)) << path;
}

}  // namespace
}  // namespace muster::pod_tools::python_words_test
