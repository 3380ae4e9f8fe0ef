#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace muster::cli {

/// Cuts a stream of bytes into lines. A line ends at "\n", "\r\n" or a lone "\r" (progress bars),
/// or after kLongest bytes, so that a program that never ends its line does not use up memory here.
/// Does not split a character of several bytes.
class LineSplitter {
  public:
    static constexpr std::size_t kLongest = 16 * 1024;
    /// `overwrites`: a lone "\r" ended the line before, so that a terminal shows this one over it.
    using Emit = std::function<void(std::string_view line, bool overwrites)>;

    explicit LineSplitter(Emit emit) : emit_(std::move(emit)) {}

    void add(std::string_view bytes);
    /// The end of the stream: the rest is a line too.
    void finish();

  private:
    void flush();

    Emit emit_;
    std::string partial_;
    bool after_return_ = false;  ///< a "\n" now belongs to the "\r" before it
    bool overwrites_ = false;
};

}  // namespace muster::cli
