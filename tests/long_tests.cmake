# SPDX-License-Identifier: BSL-1.0
# Tests that take longest, with their seconds on two processors: they begin first, so that none is left alone at the end.
set(tagma_long_tests
    structure/headers/g\\+\\+=300
    structure/headers/nvcc=200
    structure/nvcc_conformance=150
    structure/nvcc_registry_.*=140
    structure/nvcc_conformance_.*=140
    unit/cluster/simulated/random=130
    structure/headers/single=120
    structure/programs=110
    unit/conformance/built=100
    package/single_header=90
    package/add_subdirectory_compiled=80
    package/two_units=70
    package/.*=60
    structure/nvcc_device_cuda_kernel_table=60
    process/kills=50
    process/ctl=45
    structure/operations_table=40
    structure/macros=35
    structure/nvcc_.*=30
    unit/transport/simulated/random=20)

# For the tests of the directory that calls it.
function(tagma_begin_long_tests_first)
  get_property(tests DIRECTORY PROPERTY TESTS)
  foreach(test IN LISTS tests)
    foreach(entry IN LISTS tagma_long_tests)
      string(REGEX REPLACE "=[0-9]+$" "" pattern "${entry}")
      if(test MATCHES "^${pattern}$")
        string(REGEX REPLACE "^.*=" "" seconds "${entry}")
        set_tests_properties("${test}" PROPERTIES COST ${seconds})
        break()
      endif()
    endforeach()
  endforeach()
endfunction()
