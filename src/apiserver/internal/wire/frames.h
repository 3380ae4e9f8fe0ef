#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "kube/transport.h"

namespace muster::apiserver {

/// Appends the JSON text of a value.
void append_json(std::string& text, const json::value& value);

/// One line of a watch: {"type":"ADDED","object":{...}}.
std::string make_frame(kube::WatchEventType type, const json::value& object);

/// The lines of recent watch events: watchers of one change get it at about the same time, so that
/// all but the first find its text here. Thread: one loop.
class FrameCache {
  public:
    std::shared_ptr<const std::string> frame(const kube::WatchEvent& event);
    /// How many were made. It grows by one with each change that is watched, however many watch.
    std::uint64_t made() const { return made_; }

  private:
    struct Entry {
        kube::WatchEventType type{};
        kube::ObjectPtr object;  ///< keeps its address from being anybody else's
        std::shared_ptr<const std::string> text;
    };
    static constexpr std::size_t kSize = 256;

    std::array<Entry, kSize> entries_;
    std::uint64_t made_ = 0;
};

}  // namespace muster::apiserver
