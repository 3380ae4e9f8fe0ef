#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/format/composed.h"
#include "checkpoint/format/image_view.h"
#include "checkpoint/image/table.h"

namespace muster::checkpoint {

/// An image in the memory of a test, with its table.
struct TestImage {
    Table table;
    std::string bytes;

    /// `contents` have the bytes of the tensors in the order of `tensors`.
    static TestImage of(const std::vector<Tensor>& tensors,
                        const std::vector<std::string>& contents) {
        TestImage image{.table = lay_out({.tensors = tensors}).value(), .bytes = {}};
        image.bytes = encode(image.table).value();
        const std::size_t begin = image.bytes.size();
        image.bytes.resize(begin + image.table.payload());
        for (const Tensor& tensor : image.table.tensors)
            for (std::size_t i = 0; i < tensors.size(); ++i)
                if (tensors[i].name == tensor.name) {
                    EXPECT_EQ(contents[i].size(), tensor.bytes()) << tensor.name;
                    std::memcpy(image.bytes.data() + begin + tensor.begin, contents[i].data(),
                                tensor.bytes());
                }
        return image;
    }
    ImageView view() const { return {.table = table, .bytes = std::as_bytes(std::span(bytes))}; }
};

inline std::string text_of(const Composed& file) {
    std::string text;
    for (const auto& piece : file.pieces())
        text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return text;
}

/// A folder, and a Python that has `module`: what others make of our files.
class PythonTest : public ::testing::Test {
  protected:
    explicit PythonTest(std::string module) : module_(std::move(module)) {
        std::string pattern = (std::filesystem::temp_directory_path() / "format-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    ~PythonTest() override { std::filesystem::remove_all(folder_); }

    void SetUp() override {
        // Beside those of the machine, the environments that drills and benchmarks have made.
        std::istringstream found(
            "python3\n/usr/bin/python3\n" +
            run("ls -d \"$HOME\"/.cache/muster/peers/python-*/bin/python3 2>/dev/null").second);
        for (std::string python; python_.empty() && std::getline(found, python);)
            if (run(python + " -c 'import " + module_ + "'").first) python_ = python;
        if (python_.empty()) GTEST_SKIP() << "there is no python3 with " << module_;
    }

    /// Runs it in the folder; what it says when it fails is the failure.
    void python(std::string_view program) {
        write("program.py", program);
        const auto [good, said] = run(python_ + " -W ignore program.py");
        EXPECT_TRUE(good) << said;
    }
    void write(const std::string& name, std::string_view text) const {
        std::filesystem::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name, std::ios::binary) << text;
    }
    std::string read(const std::string& name) const {
        std::ostringstream text;
        text << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
        return text.str();
    }
    const std::filesystem::path& folder() const { return folder_; }

  private:
    std::pair<bool, std::string> run(const std::string& command) const {
        const std::string whole =
            "cd '" + folder_.string() + "' && OMP_NUM_THREADS=1 " + command + " 2>&1";
        std::FILE* const output = ::popen(whole.c_str(), "r");
        std::string said;
        for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output))
            said += static_cast<char>(c);
        return {::pclose(output) == 0, said};
    }

    std::string module_;
    std::string python_;
    std::filesystem::path folder_;
};

}  // namespace muster::checkpoint
