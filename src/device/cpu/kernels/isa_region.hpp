#pragma once

#define LUCE_INLINE [[gnu::always_inline]] inline

// Open a region for code of one ISA. It opens after the last library header and lasts to the end of the file, since
// lambdas inside templates are instantiated there; inside are only the .inl files of this folder, which include nothing
// from outside and live in the anonymous namespace of their kernel file. The silenced warning is a false one of gcc 12
// about _mm512_reduce_* (PR105593).
#define LUCE_BEGIN_AVX2 _Pragma("GCC target(\"avx2,fma,f16c\")")
#define LUCE_BEGIN_AVX2_VNNI _Pragma("GCC target(\"avx2,avxvnni,fma,f16c\")")
#define LUCE_BEGIN_AVX512_OF(target)                                    \
  _Pragma(target) _Pragma("GCC diagnostic ignored \"-Wuninitialized\"") \
      _Pragma("GCC diagnostic ignored \"-Wmaybe-uninitialized\"")
#define LUCE_BEGIN_AVX512 LUCE_BEGIN_AVX512_OF("GCC target(\"avx512f,avx512bw,avx512dq,avx512vl,fma,f16c\")")
#define LUCE_BEGIN_AVX512_VNNI \
  LUCE_BEGIN_AVX512_OF("GCC target(\"avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c\")")
