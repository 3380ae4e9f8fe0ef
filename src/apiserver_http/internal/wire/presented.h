#pragma once

#include <string>
#include <string_view>

#include "apiserver/requests/reply.h"
#include "apiserver/watching/watcher.h"
#include "apiserver_http/internal/printing/table.h"
#include "apiserver_http/internal/wire/media_type.h"

namespace muster::apiserver_http {

/// The metadata of a list around its items.
ListMeta list_meta(const json::object& envelope);

/// The body of an answer about objects of `def`, as text in the requested form. Other objects (a
/// Status, a Scale) keep their own form.
std::string present(const apiserver::ResourceDef& def, const apiserver::Reply& reply, Form form,
                    TableOptions::RowObject row_object, WallTime now);

/// The same as a value, for answers that are not written as JSON.
json::value present_value(const apiserver::ResourceDef& def, const apiserver::Reply& reply,
                          Form form, TableOptions::RowObject row_object, WallTime now);

/// `includeObject`; nullopt for an invalid value.
std::optional<TableOptions::RowObject> row_object_of(std::string_view include_object);

/// Writes one line of a watch for each event, in the requested form.
class EventPresenter {
  public:
    EventPresenter(apiserver::DefPtr def, Form form, TableOptions::RowObject row_object)
        : def_(std::move(def)), form_(form), options_{row_object, true} {}

    /// Appends the event's line.
    void append(std::string& lines, const apiserver::WatchedEvent& event, WallTime now);

  private:
    json::object table(const apiserver::WatchedEvent& event, WallTime now);

    apiserver::DefPtr def_;
    Form form_;
    TableOptions options_;
};

}  // namespace muster::apiserver_http
