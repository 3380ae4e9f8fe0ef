#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/internal/archive/tar_entry.h"

namespace muster::cli {

/// Turns the bytes of a tar archive into its members: POSIX' forms and GNU's. It trusts nothing:
/// sums are checked, what is kept of a member is bounded. Nothing follows an error.
class TarReader {
  public:
    /// Of names and attributes of one member.
    static constexpr std::size_t kMaxAttributes = std::size_t{1} << 20;

    struct Event {
        std::optional<TarEntry> entry;  ///< a member begins
        std::string data;               ///< else a piece of the content of the last one
    };

    void put(std::string_view bytes) {
        pending_.erase(0, at_);
        at_ = 0;
        pending_.append(bytes);
    }
    /// nullopt if more bytes are needed, or the archive has ended.
    Result<std::optional<Event>> next();
    /// Whether its mark of the end has been read.
    bool ended() const { return ended_; }
    /// Whether no member is cut short so far.
    bool complete() const { return ended_ || (left_ == 0 && unread() == 0); }

  private:
    std::size_t unread() const { return pending_.size() - at_; }
    /// At most so many of the bytes that have come.
    std::string_view take(std::size_t most);
    Result<std::optional<TarEntry>> header(std::string_view block);
    Result<std::optional<Event>> content();
    Result<void> take_attributes(char type, std::string_view text);
    TarEntry with_attributes(TarEntry entry);

    std::string pending_;
    std::size_t at_ = 0;       ///< everything before it was taken
    std::size_t left_ = 0;     ///< bytes of content to come
    std::size_t padding_ = 0;  ///< bytes after it
    char reading_ = 0;         ///< the type of what the content is an attribute of; 0: of a member
    bool passed_over_ = false;
    std::string attributes_;
    std::string long_path_;  ///< of the member to come
    std::string long_link_;
    std::optional<std::size_t> long_size_;
    bool ended_ = false;
};

}  // namespace muster::cli
