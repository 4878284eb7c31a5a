// SPDX-License-Identifier: BSL-1.0
/// @file
/// The only header that asks which compiler this is. Everything compiler-dependent is a macro defined here.
///
/// Umbrellas undefine these macros at their end (base/epilogue.hpp), and whatever is included next defines them again:
/// so there is no pragma, nothing but macros is defined here, and each header that uses one includes this itself.

#ifndef TAGMA_BASE_CONFIG
#define TAGMA_BASE_CONFIG

#include "tagma/base/fresh_type.hpp"

#if defined(__cplusplus) && __cplusplus < 202002L
#error "tagma needs C++20: compile with -std=c++20"
#endif

/// The compiler's name and version, for reports: "clang 19.1", "g++ 12.2".
#define TAGMA_TEXT_OF(x) #x
#define TAGMA_TEXT(x) TAGMA_TEXT_OF(x)
#if defined(__CUDACC_VER_MAJOR__)
#define TAGMA_COMPILER "nvcc " TAGMA_TEXT(__CUDACC_VER_MAJOR__) "." TAGMA_TEXT(__CUDACC_VER_MINOR__)
#elif defined(__clang__)
#define TAGMA_COMPILER "clang " TAGMA_TEXT(__clang_major__) "." TAGMA_TEXT(__clang_minor__)
#elif defined(__GNUC__)
#define TAGMA_COMPILER "g++ " TAGMA_TEXT(__GNUC__) "." TAGMA_TEXT(__GNUC_MINOR__)
#else
#define TAGMA_COMPILER "an unknown compiler"
#endif

/// A closure type that differs at every place where the default argument is used. It tells apart two run-time values
/// that were written at two places: `2.0f * x + 3.0f * x`. Only for templates that are not members of other templates:
/// there g++ 12 rejects it and clang hands out the same type twice.
/// @param ... a type parameter of the template: without one, a compiler would work the argument out once for all calls
///
/// nvcc compiles a file twice. Its own front end substitutes no closures and takes the second function; the host
/// compiler, which makes the program, takes the first one. So that the front end makes the kernels that the program
/// asks for, it tells places apart by the function and the expressions that it is given. g++ 12 by itself needs the
/// detour in templates, where it finds no match for a generic lambda with a closure among its default arguments.
#if defined(__CUDACC__)
#define TAGMA_FRESH_TYPE(...) decltype(::tagma::detail::fresh_type<__COUNTER__, __VA_ARGS__>(0))
#elif !defined(__clang__)
#define TAGMA_FRESH_TYPE(...) decltype(::tagma::detail::fresh_type<__VA_ARGS__>(0))
#else
#define TAGMA_FRESH_TYPE(...) decltype([] {})
#endif

/// clang before 18 prints a text among template arguments as a list of numbers, but characters as characters.
#if defined(__clang__) && __clang_major__ < 18
#define TAGMA_SPELLS_TEXT 1
#else
#define TAGMA_SPELLS_TEXT 0
#endif

/// clang gives the closures that tell places apart names for the linker, numbered file by file.
#if defined(__clang__)
#define TAGMA_NAMES_PLACES 1
#else
#define TAGMA_NAMES_PLACES 0
#endif

/// Friend functions that are declared in one template and defined in another carry definitions from a short name to a
/// long one; these two macros silence the compilers' remarks about that, and nothing else.
#if defined(__CUDACC__)
#define TAGMA_FRIEND_INJECTION_BEGIN                                                            \
  _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 1301") _Pragma("GCC diagnostic push") \
      _Pragma("GCC diagnostic ignored \"-Wnon-template-friend\"")
#define TAGMA_FRIEND_INJECTION_END _Pragma("GCC diagnostic pop") _Pragma("nv_diagnostic pop")
#elif defined(__clang__)
#define TAGMA_FRIEND_INJECTION_BEGIN
#define TAGMA_FRIEND_INJECTION_END
#else
#define TAGMA_FRIEND_INJECTION_BEGIN \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wnon-template-friend\"")
#define TAGMA_FRIEND_INJECTION_END _Pragma("GCC diagnostic pop")
#endif

/// The largest number of nodes of one program, gradients and updates included. May be defined on the command line,
/// equally for all files of a program.
#ifndef TAGMA_MAX_NODES
#define TAGMA_MAX_NODES 16384
#endif

/// Keeps a vector of floating elements from becoming one FMA with a sum that it is part of: g++ joins product and sum
/// wherever it sees both, clang only inside one expression. nvcc's front end does not know the function of g++.
#if defined(__CUDACC__) && defined(__x86_64__)
#define TAGMA_ROUND(v) asm("" : "+x"(v))
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && defined(__x86_64__)
// Its function would take vectors of 64 bytes apart, lane by lane.
#define TAGMA_ROUND(v)           \
  if constexpr (sizeof(v) == 64) \
    asm("" : "+v"(v));           \
  else                           \
    v = __builtin_assoc_barrier(v)
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define TAGMA_ROUND(v) v = __builtin_assoc_barrier(v)
#else
#define TAGMA_ROUND(v) static_cast<void>(v)
#endif

/// Products without carries of the lower (0x00) or upper (0x11) halves of each 16 bytes of vectors of 64, which are
/// `long long`. Not defined where the compiler has none.
#if defined(__clang__) && defined(__x86_64__) && !defined(__CUDACC__)
#define TAGMA_CARRYLESS(a, b, halves) __builtin_ia32_pclmulqdq512(a, b, halves)
#elif defined(__GNUC__) && defined(__x86_64__) && !defined(__CUDACC__)
#define TAGMA_CARRYLESS(a, b, halves) __builtin_ia32_vpclmulqdq_v8di(a, b, halves)
#endif

/// Float16 by the instructions of x86-64 (F16C, and their AVX-512 forms), which no processor with AVX2 lacks, and 16
/// bits as 32, which g++ does half by half, as it does bytes; 1 where vectors of eight and of sixteen have them, of
/// bytes those of eight. g++ offers its builtins only to functions that are compiled for F16C themselves, not to what
/// is inlined into these, so it gets text; clang before 19 takes lanes one by one. Where TAGMA_PORTABLE compiles loops
/// without AVX2 as well, none has them, nor under nvcc, which leaves out that a lambda is to be inlined: its body is
/// compiled for the least of processors.
/// @{
#if !defined(__x86_64__) || defined(__CUDACC__) || (defined(TAGMA_PORTABLE) && TAGMA_PORTABLE)
#define TAGMA_HAS_F16C 0
#elif !defined(__clang__)
#define TAGMA_HAS_F16C 1
#define TAGMA_FLOATS_OF_HALVES(floats, halves) asm("vcvtph2ps %1, %0" : "=v"(floats) : "v"(halves))
#define TAGMA_HALVES_OF_FLOATS(halves, floats) asm("vcvtps2ph $0, %1, %0" : "=v"(halves) : "v"(floats))
#define TAGMA_LONG_OF_SHORT(words, halves) asm("vpmovzxwd %1, %0" : "=v"(words) : "v"(halves))
#define TAGMA_LONG_OF_SIGNED_BYTE(words, bytes) asm("vpmovsxbd %1, %0" : "=v"(words) : "v"(bytes))
#define TAGMA_LONG_OF_BYTE(words, bytes) asm("vpmovzxbd %1, %0" : "=v"(words) : "v"(bytes))
#elif __clang_major__ >= 19 && (defined(__F16C__) || !(defined(__AVX2__) && defined(__FMA__)))
#define TAGMA_HAS_F16C 1
#define TAGMA_FLOATS_OF_HALVES(floats, halves)                      \
  typedef __fp16 bits __attribute__((vector_size(sizeof(halves)))); \
  floats = __builtin_convertvector(__builtin_bit_cast(bits, halves), __typeof__(floats))
#define TAGMA_HALVES_OF_FLOATS(halves, floats)                      \
  typedef __fp16 bits __attribute__((vector_size(sizeof(halves)))); \
  halves = __builtin_bit_cast(__typeof__(halves), __builtin_convertvector(floats, bits))
#define TAGMA_LONG_OF_SHORT(words, halves) words = __builtin_convertvector(halves, __typeof__(words))
#define TAGMA_LONG_OF_SIGNED_BYTE(words, bytes) words = __builtin_convertvector(bytes, __typeof__(words))
#define TAGMA_LONG_OF_BYTE(words, bytes) words = __builtin_convertvector(bytes, __typeof__(words))
#else
#define TAGMA_HAS_F16C 0
#endif
/// @}

/// Pairs of 16-bit integers, a pair in each lane of 32 bits, by the instructions of x86-64 with AVX2: the products of
/// two pairs, added, or with VNNI added to a lane as well; and bytes as 16 bits. 1 where vectors have them: text in a
/// function that is compiled for less, see above, is taken by g++ alone.
/// @{
#if !defined(__x86_64__) || defined(__CUDACC__) || defined(__clang__) || (defined(TAGMA_PORTABLE) && TAGMA_PORTABLE)
#define TAGMA_HAS_PAIRS 0
#else
#define TAGMA_HAS_PAIRS 1
#define TAGMA_PRODUCTS_OF_PAIRS(sums, a, b) asm("vpmaddwd %2, %1, %0" : "=v"(sums) : "v"(a), "vm"(b))
#define TAGMA_ADD_PRODUCTS_OF_PAIRS(sums, a, b) asm("vpdpwssd %2, %1, %0" : "+v"(sums) : "v"(a), "vm"(b))
#define TAGMA_SHORT_OF_SIGNED(shorts, bytes) asm("vpmovsxbw %1, %0" : "=v"(shorts) : "v"(bytes))
#define TAGMA_SHORT_OF_UNSIGNED(shorts, bytes) asm("vpmovzxbw %1, %0" : "=v"(shorts) : "v"(bytes))
#endif
/// @}

/// Instructions of x86-64 on vectors of floats or doubles: AVX2 for 32 bytes, AVX-512 for 64. 1 where vectors have
/// them, which takes text as above: rounding to integers, roots, their reciprocals within 2^-14, c less a b rounded
/// once, x 2^n with an integral n, the larger and the smaller one (of 64 bytes, or of signed integers of four bytes if
/// it is 32), and the second where they are equal or one is a NaN. And whether a bit is set, or a signed integer
/// greater than another; the highest bits of eight words as those of an integer; one number in all lanes; and the upper
/// halves, which `odd` picks, of sixteen floats that were rounded to the nearest, ties to even.
/// @{
#if !defined(__x86_64__) || defined(__CUDACC__) || defined(__clang__) || (defined(TAGMA_PORTABLE) && TAGMA_PORTABLE)
#define TAGMA_HAS_VECTOR_TEXT 0
#else
#define TAGMA_HAS_VECTOR_TEXT 1
#define TAGMA_VECTOR_TEXT(v, four, eight, operands, ...) \
  do {                                                   \
    if constexpr (sizeof((v)[0]) == 4)                   \
      asm(four operands : __VA_ARGS__);                  \
    else                                                 \
      asm(eight operands : __VA_ARGS__);                 \
  } while (false)
#define TAGMA_INTEGRAL_32(y, x, how) \
  TAGMA_VECTOR_TEXT(y, "vroundps", "vroundpd", " $" how ", %1, %0", "=x"(y) : "xm"(x))
#define TAGMA_INTEGRAL_64(y, x, how) \
  TAGMA_VECTOR_TEXT(y, "vrndscaleps", "vrndscalepd", " $" how ", %1, %0", "=v"(y) : "vm"(x))
#define TAGMA_ROOT(y, x) TAGMA_VECTOR_TEXT(y, "vsqrtps", "vsqrtpd", " %1, %0", "=v"(y) : "v"(x))
#define TAGMA_INVERSE_ROOT_64(y, x) TAGMA_VECTOR_TEXT(y, "vrsqrt14ps", "vrsqrt14pd", " %1, %0", "=v"(y) : "v"(x))
#define TAGMA_LESS_PRODUCT_64(c, a, b) \
  TAGMA_VECTOR_TEXT(c, "vfnmadd231ps", "vfnmadd231pd", " %2, %1, %0", "+v"(c) : "v"(a), "v"(b))
#define TAGMA_SCALED_64(y, x, n) TAGMA_VECTOR_TEXT(y, "vscalefps", "vscalefpd", " %2, %1, %0", "=v"(y) : "v"(x), "v"(n))
#define TAGMA_EXTREME(y, integers, four, eight, a, b)                              \
  do {                                                                             \
    if constexpr (sizeof(y) == 32)                                                 \
      asm(integers " %2, %1, %0" : "=x"(y) : "x"(a), "xm"(b));                     \
    else                                                                           \
      TAGMA_VECTOR_TEXT(y, four, eight, " %2, %1, %0", "=v"(y) : "v"(a), "vm"(b)); \
  } while (false)
#define TAGMA_LARGER(y, a, b) TAGMA_EXTREME(y, "vpmaxsd", "vmaxps", "vmaxpd", a, b)
#define TAGMA_SMALLER(y, a, b) TAGMA_EXTREME(y, "vpminsd", "vminps", "vminpd", a, b)
#define TAGMA_ANY_BIT_32(any, v) asm("vptest %1, %1" : "=@ccnz"(any) : "x"(v))
#define TAGMA_BROADCAST_64(y, x) TAGMA_VECTOR_TEXT(y, "vbroadcastss", "vbroadcastsd", " %1, %0", "=v"(y) : "vm"(x))
#define TAGMA_BFLOATS_OF_64(y, x, last, below, half, quiet, odd)                      \
  asm("vpaddd %3, %1, %g0\n\tvptestmd %2, %1, %%k7\n\tvpaddd %4, %1, %g0%{%%k7%}\n\t" \
      "vcmpunordps %1, %1, %%k7\n\tvpord %5, %1, %g0%{%%k7%}\n\tvpermw %g0, %6, %g0"  \
      : "=&v"(y)                                                                      \
      : "v"(x), "v"(last), "v"(below), "v"(half), "v"(quiet), "v"(odd)                \
      : "k7")
#define TAGMA_HIGHEST_BITS(bits, v) asm("vmovmskps %1, %0" : "=r"(bits) : "x"(v))
#define TAGMA_ANY_BIT_64(any, v) asm("vptestmd %1, %1, %%k7\n\tkortestw %%k7, %%k7" : "=@ccnz"(any) : "v"(v) : "k7")
#define TAGMA_ANY_GREATER_64(any, a, b)                                                              \
  TAGMA_VECTOR_TEXT(a, "vpcmpgtd", "vpcmpgtq", " %2, %1, %%k7\n\tkortestw %%k7, %%k7", "=@ccnz"(any) \
                    : "v"(a), "vm"(b)                                                                \
                    : "k7")
#endif
/// @}

/// Products of the lower halves of the lanes of two vectors, which are 64-bit words: g++ multiplies whole lanes even if
/// it is told that their upper halves are zeros. Vectors of 32 bytes and more need AVX2 or AVX-512.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && defined(__x86_64__)
#define TAGMA_PRODUCTS_OF_HALVES(products, a, b)                                                                      \
  if constexpr (sizeof(products) == 16) {                                                                             \
    typedef int halves __attribute__((vector_size(16)));                                                              \
    products = __builtin_bit_cast(                                                                                    \
        decltype(products), __builtin_ia32_pmuludq128(__builtin_bit_cast(halves, a), __builtin_bit_cast(halves, b))); \
  } else                                                                                                              \
    asm("vpmuludq %2, %1, %0" : "=v"(products) : "v"(a), "v"(b))
#else
#define TAGMA_PRODUCTS_OF_HALVES(products, a, b) products = ((a)&0xffffffffu) * (b)
#endif

/// Inlined at every optimisation level: kernels are built of small functions that must share one instruction set.
#define TAGMA_INLINE [[gnu::always_inline]] inline

/// Inlined as well, and under nvcc a function of the GPU too: what kernels of all devices call.
#if defined(__CUDACC__)
#define TAGMA_DEVICE __host__ __device__ __forceinline__
#else
#define TAGMA_DEVICE TAGMA_INLINE
#endif

/// Writes a loop out, on the device.
#if defined(__CUDA_ARCH__)
#define TAGMA_UNROLL _Pragma("unroll")
#else
#define TAGMA_UNROLL
#endif

/// Around TAGMA_DEVICE templates that are also used with values of the host alone, such as packs: nvcc warns of the
/// functions of the host that these call.
#if defined(__CUDACC__)
#define TAGMA_FORMULAS_BEGIN \
  _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 20011") _Pragma("nv_diag_suppress 20014")
#define TAGMA_FORMULAS_END _Pragma("nv_diagnostic pop")
#else
#define TAGMA_FORMULAS_BEGIN
#define TAGMA_FORMULAS_END
#endif

/// Around templates whose loops count to a number that may be 0: nvcc warns that no unsigned number is below it.
#if defined(__CUDACC__)
#define TAGMA_EMPTY_LOOPS_BEGIN _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 186")
#define TAGMA_EMPTY_LOOPS_END _Pragma("nv_diagnostic pop")
#else
#define TAGMA_EMPTY_LOOPS_BEGIN
#define TAGMA_EMPTY_LOOPS_END
#endif

/// std::is_trivially_destructible_v without the classes behind it.
#if defined(__clang__) && !defined(__CUDACC__)
#define TAGMA_ENDS_TRIVIALLY(...) __is_trivially_destructible(__VA_ARGS__)
#else
#define TAGMA_ENDS_TRIVIALLY(...) __has_trivial_destructor(__VA_ARGS__)
#endif

/// Before definitions in .ipp files: with TAGMA_COMPILED a library has them once, else each file that includes them.
#ifdef TAGMA_COMPILED
#define TAGMA_DECL
#else
#define TAGMA_DECL inline
#endif

/// With TAGMA_COMPILED, at the place where an option is asked for: the program links only with a library that was
/// compiled with the same one, or else the linker says which is missing, as in "undefined reference to
/// `tagma::library::compiled_with_zlib'". The library defines it in compiled/agreement.cpp.
#ifdef TAGMA_COMPILED
#define TAGMA_NEEDS_LIBRARY_NAMED(compiled_so)                               \
  namespace tagma::library {                                                 \
  extern const char compiled_so;                                             \
  [[gnu::used]] static const char* const needs_##compiled_so = &compiled_so; \
  }
#define TAGMA_NEEDS_LIBRARY(compiled_so) TAGMA_NEEDS_LIBRARY_NAMED(compiled_so)
#else
#define TAGMA_NEEDS_LIBRARY(compiled_so)
#endif

/// True where the compiler sees that a pointer is null, so that there is no call. clang sees it when it has chosen what
/// to inline, and would keep a destructor for each type of handle.
#if defined(__clang__)
#define TAGMA_IS_KNOWN_NULL(pointer) false
#else
#define TAGMA_IS_KNOWN_NULL(pointer) (__builtin_constant_p((pointer) == nullptr) && (pointer) == nullptr)
#endif

/// Never inlined: cold paths, such as building and throwing an error.
#define TAGMA_COLD [[gnu::noinline, gnu::cold]]

#endif
