#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace muster::kube {

/// A regular expression in the syntax of RE2, which is that of Go and so of Kubernetes. It has no
/// back-references and no look-around: a comparison reads the text once, or at the worst takes
/// size() steps for each character, however it is written. Immutable. Any thread.
class Regex {
  public:
    /// Compiles it, or takes it from the last that this thread has compiled.
    static std::shared_ptr<const Regex> of(std::string_view pattern);

    explicit Regex(std::string_view pattern);
    ~Regex();
    Regex(const Regex&) = delete;
    Regex& operator=(const Regex&) = delete;

    /// What is wrong with it, in the words of Go's package regexp; "" if it can be used. One that
    /// can't matches nothing.
    const std::string& problem() const { return problem_; }
    /// Of its program, in instructions.
    std::size_t size() const;

    /// Whether some part of the text matches.
    bool matches(std::string_view text) const;
    /// The first match that begins at `from` or later.
    std::optional<std::string_view> find(std::string_view text, std::size_t from) const;

  private:
    struct Compiled;
    std::unique_ptr<const Compiled> compiled_;
    std::string problem_;
};

}  // namespace muster::kube
