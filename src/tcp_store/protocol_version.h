#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::tcp_store {

struct StoreCommand;

/// How clients of torch number their commands. Today's begin with kValidate and the magic number.
/// Older ones begin with any command and count from kSet as 0: those of 2.1 have all of today's
/// before kPing, those of 1.13 have one more in between, to watch a key, which nothing of Python
/// can send. From there on a byte means two things, and what the client says before and after it
/// tells them apart: an old client has one command under way, and says nothing more until it is
/// answered.
class StoreProtocolVersion {
  public:
    /// The client said what today's say first.
    void is_today() { kind_ = Kind::kToday; }
    /// Today's number of the command `byte`, of which `rest` has come; one that no command has
    /// where `byte` is none. Nothing: to tell takes more bytes, or the word that `all_said`, so
    /// that nothing else comes before an answer.
    std::optional<std::uint8_t> number_of(std::uint8_t byte, std::string_view rest, bool all_said);
    /// A whole command that was read.
    void heard(const StoreCommand& command);

  private:
    enum class Kind : std::uint8_t { kToday, kOld, kOldWithWatch, kOldWithout };

    Kind tell(std::uint8_t byte, std::string_view rest, bool all_said) const;

    Kind kind_ = Kind::kOld;  ///< kOld: one of both
    std::string waited_;  ///< the keys of the command before, if it was a wait, as they were sent
};

}  // namespace muster::tcp_store
