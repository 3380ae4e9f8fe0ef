# Compiler, warnings, sanitizers. g++ before 14 miscompiles coroutine code that we use
# (temporaries in the same full expression as a co_await), so it is refused here and not at run time.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
    message(FATAL_ERROR "g++ ${CMAKE_CXX_COMPILER_VERSION} miscompiles coroutines; use clang++-19 (./dev setup installs it) or g++ 14.")
endif()

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(MUSTER_SANITIZE "" CACHE STRING "Sanitizers, comma separated: address,undefined or thread")
option(MUSTER_FUZZ "Build the libFuzzer targets" OFF)

add_compile_options(-Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Werror)
# Reproducible output, and ccache hits between checkouts in different folders.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
add_link_options(-fuse-ld=lld)
# Functions that nobody calls, and second copies of equal ones, are memory of every process.
add_link_options($<$<CONFIG:Release>:-Wl,--gc-sections> $<$<CONFIG:Release>:-Wl,--icf=safe>)
# Equal ends of texts once, and relocations as bitmaps, which glibc reads since 2.36.
add_link_options($<$<CONFIG:Release>:-Wl,-O2> $<$<CONFIG:Release>:-Wl,-z,pack-relative-relocs>)

# What users run is inlined where that makes the code shorter and little further: a third less code, and a quarter less
# time to compile it.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options("$<$<CONFIG:Release>:SHELL:-mllvm -inline-threshold=25>")
endif()

if(MUSTER_SANITIZE)
    add_compile_options(-fsanitize=${MUSTER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${MUSTER_SANITIZE})
    # A null pointer that is used and objects that are too small for an access are found by the address sanitizer as well.
    # To look for them twice takes a quarter of the time of a compilation.
    if(MUSTER_SANITIZE MATCHES "address")
        add_compile_options(-fno-sanitize=null,object-size,pointer-overflow)
    endif()
    # What is inlined is instrumented again at each call: with less of it, files compile a tenth to a quarter faster.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        add_compile_options("SHELL:-mllvm -inline-threshold=10")
    endif()
endif()
if(MUSTER_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE ccache)
if(CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_SOURCE_DIR}/cmake/compile.sh ${CMAKE_SOURCE_DIR} ${CCACHE})
endif()
