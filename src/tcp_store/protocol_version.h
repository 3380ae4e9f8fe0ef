#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::tcp_store {

struct StoreCommand;

/// The version of the protocol by which a client of torch numbers its commands. Current clients
/// begin with kValidate and the magic number. Older ones begin with any command and count from kSet
/// as 0: those of 2.1 have all of today's commands before kPing, and those of 1.13 have one more in
/// between, to watch a key, which Python code can't send. From that number on a byte has two
/// meanings, which are told apart by what the client sends before and after it: an old client has
/// one command in flight and sends nothing more until it is answered.
class StoreProtocolVersion {
  public:
    /// The client began as current ones do.
    void is_today() { kind_ = Kind::kToday; }
    /// Today's number of the command `byte`, followed by `rest`; an unused number if `byte` is not
    /// a command. nullopt if the decision needs more bytes, or `all_said`: the client has sent all
    /// it will before an answer.
    std::optional<std::uint8_t> number_of(std::uint8_t byte, std::string_view rest, bool all_said);
    /// A whole command was read.
    void heard(const StoreCommand& command);

  private:
    enum class Kind : std::uint8_t { kToday, kOld, kOldWithWatch, kOldWithout };

    Kind tell(std::uint8_t byte, std::string_view rest, bool all_said);
    bool repeats_wait(std::string_view rest);

    Kind kind_ = Kind::kOld;    ///< kOld: either of the two
    std::string waited_;        ///< the keys of the previous command as sent, if it was a wait
    std::size_t repeated_ = 0;  ///< bytes of these that the next command was seen to repeat
};

}  // namespace muster::tcp_store
