# One CMake library per folder of the house, its tests beside the code, and a link test.
#
#   muster_library(kube DEPENDS net process base ROOMS values objects schema patch transport client client_config)
#       Sources are all *.cc of the folder, its rooms and its internal/ but tests and benches.
#       DEPENDS are folders of the house (public), LIBRARIES are third-party ones. ROOMS are
#       folders in it with public headers about one thing; each uses only those before it.
#       With MUSTER_UNITY its sources are compiled together in groups, which takes a third of the time. So no two of
#       them give the same name to different things; ALONE are patterns of those that do, such as one source for each verb.
#   muster_test(kube LIBRARIES ... SERIAL TSAN)
#       All *_test.cc of the folder, in one program kube_test. SERIAL: it starts processes or measures,
#       so nothing runs beside it; in a whole run it comes last. TSAN: it has threads, so ./dev test runs it under the
#       thread sanitizer too. With MUSTER_UNITY the tests are compiled together as sources are: each file of them has a
#       namespace of its own, named like the file (scripts/lint_rooms.py).
#   muster_test(apiserver PROGRAM apiserver_on_file MATCHING "sqlite_store" TSAN)
#       Those of them whose path matches, in a program of their own: they alone need what it says.
#       EXCEPT keeps them out of the other one.
#   muster_test(operator SHARDS 4)
#       Its cases are run by so many processes beside each other, as operator-0 to operator-3: they take long. With SERIAL,
#       these run beside each other but, in a whole run, beside nothing else.
#   muster_test(cli PROGRAM scenarios MATCHING "scenario_runs" LONG)
#       Too long for every change of the folder: `./dev test` and `./dev test unit` run it, `./dev test cli` does not.
#
#   Targets: kube_tests builds all test programs of a folder, kube_tsan_tests those with threads, kube_headers compiles
#   each header by itself that no source has for its first include; tests, tsan_tests and headers do so for all folders.
#   muster_static_program(muster_in_pods NAME muster-in-pods SOURCES main.cc FOLDERS rsh net base ARCHIVES cares)
#       A program that loads no library and so runs in any image, an empty one included. FOLDERS are all
#       that it is made of, in the order of the linker; ARCHIVES are Debian's, by their names or paths.
#       With sanitizers, which want a loader, it is an ordinary one.
#   muster_embed_program(muster_agent PROGRAM muster_shim SYMBOL muster_shim)
#       The library's users carry the program: its bytes lie between SYMBOL_begin and SYMBOL_end.
#   muster_embed_files(muster_pod_tools SYMBOL muster_python ROOT ${dir} FILES ${files})
#       The library carries the files: between SYMBOL_begin and SYMBOL_end lie three pointers for each, to its name below ROOT,
#       and to the begin and the end of its bytes.
#   muster_fuzz(quantity fuzz/quantity_fuzz.cc LIBRARIES muster_kube)
#       A fuzz target (LLVMFuzzerTestOneInput) and its corpus, the files of fuzz/corpus/quantity.
#       The test quantity_fuzz_corpus replays the corpus in every build; with MUSTER_FUZZ there is
#       also quantity_fuzz, which searches for new inputs (./dev fuzz quantity).

# The headers that almost every file needs and that cost most: compiled once per set of flags. They are named without their
# folder, so that the file which CMake generates for them is the same in each checkout: ccache hashes it.
add_library(muster_pch STATIC ${CMAKE_SOURCE_DIR}/cmake/pch.cc)
target_link_libraries(muster_pch PUBLIC muster_boost_json fmt::fmt)
target_include_directories(muster_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake)
target_precompile_headers(muster_pch PRIVATE <pch.h>)
target_compile_options(muster_pch PRIVATE -Xclang -fno-pch-timestamp)

# Test programs have one of their own, with GoogleTest in it. They are compiled without optimisation where sanitizers
# are: that takes a third of the time, and what they test is in the libraries.
set(muster_test_options)
if(MUSTER_SANITIZE)
    set(muster_test_options -O0)
endif()
add_library(muster_test_pch STATIC EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/cmake/pch.cc)
target_link_libraries(muster_test_pch PUBLIC muster_boost_json fmt::fmt GTest::gmock)
target_include_directories(muster_test_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake)
target_precompile_headers(muster_test_pch PRIVATE <test_pch.h>)
target_compile_options(muster_test_pch PRIVATE -Xclang -fno-pch-timestamp ${muster_test_options})

add_custom_target(tests)
add_custom_target(tsan_tests)
add_custom_target(headers)

function(_muster_target target)
    _muster_compiled(${target} muster_pch)
endfunction()

function(_muster_compiled target pch)
    target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/src PRIVATE ${CMAKE_SOURCE_DIR}/cmake)
    target_link_libraries(${target} PUBLIC muster_boost_json fmt::fmt)
    target_precompile_headers(${target} REUSE_FROM ${pch})
    target_compile_options(${target} PRIVATE -Xclang -fno-pch-timestamp)
endfunction()

# The files of this folder, its rooms and its internal/ that end so.
function(_muster_files out ending)
    get_property(rooms DIRECTORY PROPERTY muster_rooms)
    list(TRANSFORM rooms APPEND "/*${ending}")
    file(GLOB files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
        *${ending} ${rooms} internal/*${ending} internal/*/*${ending})
    set(${out} ${files} PARENT_SCOPE)
endfunction()

# Writes files that include the sources of one folder each, up to so many bytes of them, and of small folders those of the
# next one too: they share headers and templates. The paths in them are relative: each checkout has the same files, and
# finds in ccache what another one compiled. NAME tells these groups from others of the folder.
function(_muster_together out name)
    set(most_bytes 60000)
    set(small_folder 25000)
    set(folder)
    set(sum ${most_bytes})
    set(groups)
    foreach(source IN LISTS ARGN)
        cmake_path(GET source PARENT_PATH its_folder)
        file(SIZE ${source} bytes)
        if(NOT its_folder STREQUAL folder AND sum GREATER small_folder)
            set(sum ${most_bytes})
        endif()
        set(folder ${its_folder})
        math(EXPR sum "${sum} + ${bytes}")
        if(sum GREATER most_bytes)
            set(sum ${bytes})
            list(LENGTH groups group)
            list(APPEND groups ${CMAKE_CURRENT_BINARY_DIR}/together/${name}_${group}.cc)
            set(text_${group})
        endif()
        cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src)
        string(APPEND text_${group} "#include \"${source}\"\n")
    endforeach()
    set(group 0)
    foreach(file IN LISTS groups)
        file(CONFIGURE OUTPUT ${file} CONTENT "${text_${group}}")
        math(EXPR group "${group} + 1")
    endforeach()
    set(${out} ${groups} PARENT_SCOPE)
endfunction()

function(muster_library name)
    cmake_parse_arguments(arg "" "" "DEPENDS;LIBRARIES;ROOMS;EXCLUDE;ALONE" ${ARGN})
    set_property(DIRECTORY PROPERTY muster_rooms ${arg_ROOMS})
    _muster_files(sources .cc)
    list(TRANSFORM sources PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
    list(FILTER sources EXCLUDE REGEX "(_test|_bench|_fuzz)\\.cc$")
    foreach(pattern IN LISTS arg_EXCLUDE)
        list(FILTER sources EXCLUDE REGEX "${pattern}")
    endforeach()
    if(MUSTER_UNITY)
        set(alone ${sources})
        foreach(pattern IN LISTS arg_ALONE)
            list(FILTER sources EXCLUDE REGEX "${pattern}")
        endforeach()
        list(REMOVE_ITEM alone ${sources})
        _muster_together(groups group ${sources})
        set(sources ${alone} ${groups})
    endif()
    add_library(muster_${name} STATIC ${sources})
    _muster_target(muster_${name})
    if(MUSTER_UNITY)
        # The other builds compile each by itself and see what is shadowed.
        target_compile_options(muster_${name} PRIVATE -Wno-shadow)
    endif()
    list(TRANSFORM arg_DEPENDS PREPEND muster_ OUTPUT_VARIABLE depends)
    target_link_libraries(muster_${name} PUBLIC ${depends} ${arg_LIBRARIES})

    # The link test: the whole archive and only what it declares. A hidden coupling to another
    # folder, or a cycle, fails the build here.
    add_executable(${name}_link_test ${CMAKE_SOURCE_DIR}/cmake/link_test.cc)
    target_link_libraries(${name}_link_test PRIVATE
        -Wl,--whole-archive muster_${name} -Wl,--no-whole-archive)
    add_test(NAME ${name}_link COMMAND ${name}_link_test)
    set_tests_properties(${name}_link PROPERTIES LABELS ${name})
    add_custom_target(${name}_tests)
    add_custom_target(${name}_tsan_tests)
    add_dependencies(${name}_tests ${name}_link_test)
    add_dependencies(tests ${name}_tests)
    add_dependencies(tsan_tests ${name}_tsan_tests)

    _muster_headers(${name} muster_${name})
endfunction()

# Each header in a file of its own: what it forgets to include shows. The source of the same name includes it first
# (scripts/lint_includes.py sees to that), so it shows there already. What the precompiled header, which makes that five
# times as fast, would hide is found by scripts/lint_includes.py, too.
function(_muster_headers name)
    _muster_files(headers .h)
    _muster_files(compiled .cc)
    list(TRANSFORM compiled REPLACE "\\.cc$" ".h")
    list(REMOVE_ITEM headers ${compiled})
    set(sources)
    foreach(header IN LISTS headers)
        set(path ${CMAKE_CURRENT_SOURCE_DIR}/${header})
        cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src)
        string(REPLACE "/" "_" file ${path})
        set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${file}.cc)
        file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${path}\"\n")
        list(APPEND sources ${source})
    endforeach()
    if(sources)
        add_library(${name}_headers OBJECT EXCLUDE_FROM_ALL ${sources})
        _muster_compiled(${name}_headers muster_pch)
        target_link_libraries(${name}_headers PRIVATE ${ARGN} GTest::gmock)
        add_dependencies(headers ${name}_headers)
    endif()
endfunction()

function(muster_test name)
    cmake_parse_arguments(arg "SERIAL;TSAN;LONG" "PROGRAM;MATCHING;EXCEPT;SHARDS" "LIBRARIES" ${ARGN})
    _muster_files(sources _test.cc)
    if(arg_MATCHING)
        list(FILTER sources INCLUDE REGEX "${arg_MATCHING}")
    endif()
    if(arg_EXCEPT)
        list(FILTER sources EXCLUDE REGEX "${arg_EXCEPT}")
    endif()
    if(NOT sources)
        return()
    endif()
    set(program ${name})
    if(arg_PROGRAM)
        set(program ${arg_PROGRAM})
    endif()
    if(MUSTER_UNITY)
        list(TRANSFORM sources PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
        _muster_together(sources ${program}_test ${sources})
    endif()
    add_executable(${program}_test ${sources})
    _muster_compiled(${program}_test muster_test_pch)
    target_compile_options(${program}_test PRIVATE ${muster_test_options} $<$<BOOL:${MUSTER_UNITY}>:-Wno-shadow>)
    target_link_libraries(${program}_test PRIVATE muster_${name} ${arg_LIBRARIES} GTest::gmock GTest::gtest GTest::gtest_main)
    if(arg_LONG)
        add_dependencies(tests ${program}_test)
    else()
        add_dependencies(${name}_tests ${program}_test)
    endif()
    set(tests ${program})
    if(arg_SHARDS)
        math(EXPR last "${arg_SHARDS} - 1")
        set(tests)
        foreach(shard RANGE ${last})
            list(APPEND tests ${program}-${shard})
        endforeach()
    endif()
    foreach(test IN LISTS tests)
        add_test(NAME ${test} COMMAND ${program}_test)
        set_tests_properties(${test} PROPERTIES LABELS ${name} TIMEOUT 600)
        if(arg_SHARDS)
            # Each shard has a report of its own: GTEST_OUTPUT names the folder of the reports.
            string(REGEX REPLACE ".*-" "" shard ${test})
            set_tests_properties(${test} PROPERTIES
                ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${shard}"
                ENVIRONMENT_MODIFICATION "GTEST_OUTPUT=string_append:${test}_test.xml")
        endif()
        if(arg_SERIAL)
            set_property(TEST ${test} APPEND PROPERTY LABELS serial)
        endif()
        if(arg_SERIAL AND NOT arg_SHARDS)
            set_tests_properties(${test} PROPERTIES RUN_SERIAL ON)
        endif()
        if(arg_TSAN)
            set_property(TEST ${test} APPEND PROPERTY LABELS tsan)
        endif()
        if(arg_LONG)
            set_property(TEST ${test} APPEND PROPERTY LABELS long)
        endif()
    endforeach()
    if(arg_TSAN)
        add_dependencies(${name}_tsan_tests ${program}_test)
    endif()
endfunction()

function(muster_fuzz name source)
    cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
    set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name})
    if(NOT IS_DIRECTORY ${corpus})
        message(FATAL_ERROR "The fuzz target ${name} has no corpus: put a few inputs into ${corpus}.")
    endif()
    add_executable(${name}_fuzz_replay ${source} ${CMAKE_SOURCE_DIR}/cmake/fuzz_replay.cc)
    _muster_target(${name}_fuzz_replay)
    target_link_libraries(${name}_fuzz_replay PRIVATE ${arg_LIBRARIES})
    add_test(NAME ${name}_fuzz_corpus COMMAND ${name}_fuzz_replay ${corpus})
    cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
    set_tests_properties(${name}_fuzz_corpus PROPERTIES LABELS ${folder} TIMEOUT 300)
    add_dependencies(${folder}_tests ${name}_fuzz_replay)
    if(MUSTER_FUZZ)
        if(NOT MUSTER_SANITIZE)
            message(FATAL_ERROR "MUSTER_FUZZ needs MUSTER_SANITIZE: coverage is counted by the sanitizers' runtime. Use the preset fuzz.")
        endif()
        add_executable(${name}_fuzz ${source})
        _muster_target(${name}_fuzz)
        target_link_libraries(${name}_fuzz PRIVATE ${arg_LIBRARIES})
        target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
    endif()
endfunction()

# It links against archives by name: libraries as targets would bring shared ones.
function(muster_static_program target)
    cmake_parse_arguments(arg "" "NAME" "SOURCES;FOLDERS;ARCHIVES" ${ARGN})
    set(static ${CMAKE_SOURCE_DIR}/src/base/static)
    add_executable(${target} ${arg_SOURCES} ${static}/fmt.cc ${static}/spdlog.cc)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${arg_NAME})
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_compile_definitions(${target} PRIVATE SPDLOG_COMPILED_LIB SPDLOG_FMT_EXTERNAL)
    foreach(folder IN LISTS arg_FOLDERS)
        target_link_libraries(${target} PRIVATE $<TARGET_FILE:muster_${folder}>)
        add_dependencies(${target} muster_${folder})
    endforeach()
    foreach(archive IN LISTS arg_ARCHIVES)
        if(NOT IS_ABSOLUTE ${archive})
            set(archive ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/lib${archive}.a)
        endif()
        target_link_libraries(${target} PRIVATE ${archive})
    endforeach()
    target_link_libraries(${target} PRIVATE Threads::Threads)
    target_link_options(${target} PRIVATE -Wl,--gc-sections)
    if(NOT MUSTER_SANITIZE)
        target_link_options(${target} PRIVATE -static-pie -s)
    endif()
endfunction()

function(muster_embed_program library)
    cmake_parse_arguments(arg "" "PROGRAM;SYMBOL" "" ${ARGN})
    get_target_property(file ${arg_PROGRAM} OUTPUT_NAME)
    if(NOT file)
        set(file ${arg_PROGRAM})
    endif()
    set(image ${CMAKE_CURRENT_BINARY_DIR}/${arg_SYMBOL}_image.S)
    file(CONFIGURE OUTPUT ${image} CONTENT "    .section .rodata
    .global ${arg_SYMBOL}_begin
    .global ${arg_SYMBOL}_end
    .balign 4096
${arg_SYMBOL}_begin:
    .incbin MUSTER_PROGRAM
${arg_SYMBOL}_end:
    .balign 4096
    .section .note.GNU-stack, \"\", @progbits
")
    set_source_files_properties(${image} PROPERTIES
        OBJECT_DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${file}
        COMPILE_DEFINITIONS MUSTER_PROGRAM="$<TARGET_FILE:${arg_PROGRAM}>")
    add_library(${arg_SYMBOL}_image STATIC ${image})
    add_dependencies(${arg_SYMBOL}_image ${arg_PROGRAM})
    target_link_libraries(${library} INTERFACE ${arg_SYMBOL}_image)
endfunction()

function(muster_embed_files library)
    cmake_parse_arguments(arg "" "SYMBOL;ROOT" "FILES" ${ARGN})
    set(bytes "    .section .rodata\n")
    set(table "    .section .data.rel.ro, \"aw\", @progbits\n    .balign 8\n    .global ${arg_SYMBOL}_begin\n${arg_SYMBOL}_begin:\n")
    set(number 0)
    foreach(file IN LISTS arg_FILES)
        cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${arg_ROOT} OUTPUT_VARIABLE name)
        string(APPEND bytes ".Lname${number}:\n    .asciz \"${name}\"\n.Lbegin${number}:\n    .incbin \"${file}\"\n.Lend${number}:\n    .byte 0\n")
        string(APPEND table "    .quad .Lname${number}, .Lbegin${number}, .Lend${number}\n")
        math(EXPR number "${number} + 1")
    endforeach()
    set(image ${CMAKE_CURRENT_BINARY_DIR}/${arg_SYMBOL}_files.S)
    file(CONFIGURE OUTPUT ${image} CONTENT "${bytes}${table}    .global ${arg_SYMBOL}_end\n${arg_SYMBOL}_end:\n    .section .note.GNU-stack, \"\", @progbits\n")
    set_source_files_properties(${image} PROPERTIES OBJECT_DEPENDS "${arg_FILES}")
    target_sources(${library} PRIVATE ${image})
endfunction()
