// The compiled part of Asio, for all programs: as a library of headers alone, its scheduler and its reactor would be
// compiled in each file that touches a loop.
#include <boost/asio/impl/src.hpp>
