# Third-party libraries, one per purpose. All come from Debian 12.

# Debian's python3-sklearn pulls in Boost 1.74's headers, which conflict with those of 1.81 that we
# need. So ./dev setup unpacks the 1.81 packages beside the system and says where they are.
set(MUSTER_BOOST_ROOT "$ENV{HOME}/.cache/muster/boost-1.81" CACHE PATH "Where Debian's Boost 1.81 packages are unpacked, or / for the system's")
find_path(MUSTER_BOOST_INCLUDE boost/asio/any_completion_handler.hpp
    PATHS ${MUSTER_BOOST_ROOT}/usr/include NO_DEFAULT_PATH)
if(NOT MUSTER_BOOST_INCLUDE)
    message(FATAL_ERROR "No Boost 1.81 headers below ${MUSTER_BOOST_ROOT}. Run ./dev setup, or pass -DMUSTER_BOOST_ROOT=/ where the system has libboost1.81-dev.")
endif()
set(_boost_lib ${MUSTER_BOOST_ROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(GTest REQUIRED)

# SYSTEM keeps the libraries' own warnings out of our -Werror.
add_library(muster_boost INTERFACE)
target_include_directories(muster_boost SYSTEM INTERFACE ${MUSTER_BOOST_INCLUDE})
# What is compiled of Asio is compiled once: src/base/internal/asio.cc.
target_compile_definitions(muster_boost INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_VISIBILITY
    BOOST_ASIO_SEPARATE_COMPILATION)
target_link_libraries(muster_boost INTERFACE Threads::Threads)

set(MUSTER_BOOST_ARCHIVES ${_boost_lib}/libboost_json.a ${_boost_lib}/libboost_container.a)
add_library(muster_boost_json INTERFACE)
target_link_libraries(muster_boost_json INTERFACE muster_boost ${MUSTER_BOOST_ARCHIVES})

add_library(muster_yaml INTERFACE)
target_link_libraries(muster_yaml INTERFACE ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libyaml-cpp.a)

find_package(OpenSSL 3.0 REQUIRED)
add_library(muster_openssl INTERFACE)
target_link_libraries(muster_openssl INTERFACE OpenSSL::SSL OpenSSL::Crypto)

# What a static program asks DNS with; in the others it costs nothing.
add_library(muster_cares INTERFACE)
target_link_libraries(muster_cares INTERFACE ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libcares.a)

# Static, so that a file is written by one version of SQLite wherever the program runs.
add_library(muster_sqlite INTERFACE)
target_link_libraries(muster_sqlite INTERFACE
    ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libsqlite3.a Threads::Threads m ${CMAKE_DL_LIBS})

# What agents and their master say to each other (proto/). The lite runtime, static: the full one has
# reflection that nobody here uses, and pods may lack either.
find_program(MUSTER_PROTOC protoc)
if(NOT MUSTER_PROTOC)
    message(FATAL_ERROR "No protoc. Run ./dev setup, or install protobuf-compiler and libprotobuf-dev.")
endif()
add_library(muster_protobuf INTERFACE)
target_link_libraries(muster_protobuf INTERFACE
    ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libprotobuf-lite.a Threads::Threads)

add_library(muster_zlib INTERFACE)
target_link_libraries(muster_zlib INTERFACE ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libz.a)

# Regular expressions of CEL, in the syntax of Go and in linear time.
add_library(muster_re2 INTERFACE)
target_link_libraries(muster_re2 INTERFACE ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libre2.a Threads::Threads)

# Digests of checkpoints, from its header alone: what a worker of any image loads needs no library.
find_path(MUSTER_XXHASH_INCLUDE xxhash.h)
if(NOT MUSTER_XXHASH_INCLUDE)
    message(FATAL_ERROR "No xxhash. Run ./dev setup, or install libxxhash-dev.")
endif()

# Debian has it as a shared library alone. Its core: numbers and their text, no server.
find_library(MUSTER_PROMETHEUS_CORE prometheus-cpp-core)
if(NOT MUSTER_PROMETHEUS_CORE)
    message(FATAL_ERROR "No prometheus-cpp. Run ./dev setup, or install prometheus-cpp-dev.")
endif()
add_library(muster_prometheus INTERFACE)
target_link_libraries(muster_prometheus INTERFACE ${MUSTER_PROMETHEUS_CORE})
