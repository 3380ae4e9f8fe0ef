#pragma once

#include <functional>
#include <string>

namespace muster::apiserver {

/// What other servers keep in the namespaces of this one. Thread: the server's loop.
class OutsideContent {
  public:
    virtual ~OutsideContent() = default;

    /// Set once, before anything is asked: called when nothing is left of a namespace that had to
    /// wait.
    virtual void when_gone(std::function<void(std::string namespace_)> gone) = 0;
    /// Whether the namespace has no such content any more, which is told once. If not, it is being
    /// deleted.
    virtual bool is_gone(const std::string& namespace_, const std::string& uid) = 0;
};

}  // namespace muster::apiserver
