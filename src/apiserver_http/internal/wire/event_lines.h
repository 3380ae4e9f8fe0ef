#pragma once

#include <string>

#include "apiserver/watching/watcher.h"
#include "apiserver_http/internal/printing/table.h"
#include "apiserver_http/internal/wire/media_type.h"

namespace muster::apiserver_http {

/// Writes one line of a watch for each event, in the requested form. Pure: any thread, one at a
/// time.
class EventLines {
  public:
    EventLines(apiserver::DefPtr def, Form form, RowObject row_object)
        : def_(std::move(def)), form_(form), row_object_(row_object) {}

    /// Whether writing its line takes so long that it should be done beside the loop.
    bool is_long(const apiserver::WatchedEvent& event) const;
    /// Appends the event's line.
    void append(std::string& lines, const apiserver::WatchedEvent& event, WallTime now);

  private:
    std::string table(const apiserver::WatchedEvent& event, WallTime now);

    apiserver::DefPtr def_;
    Form form_;
    RowObject row_object_;
    bool with_columns_ = true;  ///< until the first table is written: a client keeps its columns
};

}  // namespace muster::apiserver_http
