#pragma once

#include <expected>
#include <utility>

#include "base/error.h"

namespace muster {

/// A value or an Error. Derived from std::expected so that ignoring one is a warning, and so that
/// the error type can change in one place.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
  public:
    using std::expected<T, Error>::expected;
    Result(Error error) : std::expected<T, Error>(std::unexpect, std::move(error)) {}     // NOLINT
    Result(std::expected<T, Error> other) : std::expected<T, Error>(std::move(other)) {}  // NOLINT
};

template <>
class [[nodiscard]] Result<void> : public std::expected<void, Error> {
  public:
    using std::expected<void, Error>::expected;
    Result(Error error) : std::expected<void, Error>(std::unexpect, std::move(error)) {}  // NOLINT
};

}  // namespace muster

#define MUSTER_CONCAT_(a, b) a##b
#define MUSTER_CONCAT(a, b) MUSTER_CONCAT_(a, b)
#define MUSTER_TRY_(tmp, decl, expr, ret)             \
    auto tmp = (expr);                                \
    if (!tmp.has_value()) ret std::move(tmp.error()); \
    decl = *std::move(tmp)
#define MUSTER_CHECK_OK_(tmp, expr, ret)                  \
    do {                                                  \
        auto tmp = (expr);                                \
        if (!tmp.has_value()) ret std::move(tmp.error()); \
    } while (false)

/// TRY(auto x, f()): x is f()'s value, or the function returns f()'s error.
#define TRY(decl, expr) MUSTER_TRY_(MUSTER_CONCAT(try_result_, __COUNTER__), decl, expr, return)
/// The same inside a coroutine: CO_TRY(auto x, co_await f()).
#define CO_TRY(decl, expr) \
    MUSTER_TRY_(MUSTER_CONCAT(try_result_, __COUNTER__), decl, expr, co_return)
/// For Result<void>.
#define TRY_VOID(expr) MUSTER_CHECK_OK_(MUSTER_CONCAT(try_result_, __COUNTER__), expr, return)
#define CO_TRY_VOID(expr) MUSTER_CHECK_OK_(MUSTER_CONCAT(try_result_, __COUNTER__), expr, co_return)
