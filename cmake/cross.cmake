# Compiles for another architecture, with its Debian packages unpacked in MUSTER_SYSROOT and installed nowhere
# (scripts/cross.sh). Programs that the build itself runs, protoc among them, are those of this machine.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${MUSTER_PROCESSOR})
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MUSTER_SYSROOT MUSTER_PROCESSOR)
set(CMAKE_SYSROOT ${MUSTER_SYSROOT})

set(CMAKE_CXX_COMPILER_TARGET ${MUSTER_PROCESSOR}-linux-gnu)
set(CMAKE_ASM_COMPILER clang-19)
set(CMAKE_ASM_COMPILER_TARGET ${MUSTER_PROCESSOR}-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE ${MUSTER_PROCESSOR}-linux-gnu)
add_link_options(-fuse-ld=lld)

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
