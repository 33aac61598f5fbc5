// IEEE doubles in software, because BPF has no floating point. A number is its 64 bits. Results equal the processor's
// bit for bit (round to nearest, ties to even), with two exceptions: subnormal inputs count as zero and subnormal
// results become zero, and all results that are not a number have the same bits.
#pragma once

typedef unsigned long long f64;

// Not static: the verifier of the kernel checks such a function once, for all arguments, and not once per call.
#define F64_FUNCTION __attribute__((noinline))
#define F64_INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define F64_LOOP _Pragma("clang loop unroll(disable)")
#else
#define F64_LOOP
#endif

#define F64_SIGN 0x8000000000000000ULL
#define F64_MANTISSA 0x000fffffffffffffULL
#define F64_HIDDEN 0x0010000000000000ULL
#define F64_INFINITE 0x7ff0000000000000ULL
#define F64_NAN 0x7ff8000000000000ULL
#define F64_ONE 0x3ff0000000000000ULL
#define F64_TWO 0x4000000000000000ULL
#define F64_HALF 0x3fe0000000000000ULL

#define f64_exponent(x) ((int)(((x) >> 52) & 0x7ff))
#define f64_is_nan(x) (((x) & ~F64_SIGN) > F64_INFINITE)
#define f64_is_zero(x) (!f64_exponent(x))
#define f64_negate(x) ((x) ^ F64_SIGN)
#define f64_absolute(x) ((x) & ~F64_SIGN)
#define f64_subtract(a, b) f64_add((a), f64_negate(b))

// Rounds and packs. `m` has its leading bit at 62, ten bits more than a double keeps; the lowest is sticky.
F64_INLINE f64 f64_pack(f64 sign, int exponent, f64 m) {
    f64 rest = m & 0x3ff;
    m >>= 10;
    m += (rest + (m & 1)) > 0x200;
    if (m >> 53) {
        m >>= 1;
        exponent++;
    }
    if (exponent <= 0) return sign;
    if (exponent >= 0x7ff) return sign | F64_INFINITE;
    return sign | ((f64)exponent << 52) | (m & F64_MANTISSA);
}

// Shifts the leading bit of m > 0 to 62; returns by how much.
F64_INLINE int f64_normalise(f64* m) {
    int n = 0;
    f64 x = *m;
    if (!(x >> 31)) x <<= 32, n += 32;
    if (!(x >> 47)) x <<= 16, n += 16;
    if (!(x >> 55)) x <<= 8, n += 8;
    if (!(x >> 59)) x <<= 4, n += 4;
    if (!(x >> 61)) x <<= 2, n += 2;
    if (!(x >> 62)) x <<= 1, n += 1;
    *m = x;
    return n;
}

F64_FUNCTION f64 f64_add(f64 a, f64 b) {
    if ((a << 1) < (b << 1)) {
        f64 larger = b;
        b = a;
        a = larger;
    }
    int ea = f64_exponent(a), eb = f64_exponent(b);
    f64 sign = a & F64_SIGN;
    if (ea == 0x7ff) {
        if ((a & F64_MANTISSA) || (eb == 0x7ff && ((a ^ b) & F64_SIGN))) return F64_NAN;
        return a;
    }
    if (!eb) return ea ? a : (a & b & F64_SIGN);
    f64 ma = ((a & F64_MANTISSA) | F64_HIDDEN) << 10, mb = ((b & F64_MANTISSA) | F64_HIDDEN) << 10;
    unsigned distance = (unsigned)(ea - eb);
    if (distance > 63)
        mb = 1;
    else if (distance)
        mb = (mb >> distance) | ((mb << (64 - distance)) != 0);
    f64 m;
    if ((a ^ b) & F64_SIGN) {
        m = ma - mb;
        if (!m) return 0;
        ea -= f64_normalise(&m);
    } else {
        m = ma + mb;
        if (m >> 63) {
            m = (m >> 1) | (m & 1);
            ea++;
        }
    }
    return f64_pack(sign, ea, m);
}

F64_FUNCTION f64 f64_multiply(f64 a, f64 b) {
    int ea = f64_exponent(a), eb = f64_exponent(b);
    f64 sign = (a ^ b) & F64_SIGN;
    if (ea == 0x7ff || eb == 0x7ff) {
        if (f64_is_nan(a) || f64_is_nan(b) || !ea || !eb) return F64_NAN;
        return sign | F64_INFINITE;
    }
    if (!ea || !eb) return sign;
    f64 x = ((a & F64_MANTISSA) | F64_HIDDEN) << 11, y = ((b & F64_MANTISSA) | F64_HIDDEN) << 11;
    f64 xl = x & 0xffffffff, xh = x >> 32, yl = y & 0xffffffff, yh = y >> 32;
    f64 ll = xl * yl, lh = xl * yh, hl = xh * yl, hh = xh * yh;
    f64 middle = (ll >> 32) + (lh & 0xffffffff) + (hl & 0xffffffff);
    f64 high = hh + (lh >> 32) + (hl >> 32) + (middle >> 32);
    f64 low = (middle << 32) | (ll & 0xffffffff);
    int exponent = ea + eb - 1023;
    if (high >> 63) {
        low |= high & 1;
        high >>= 1;
        exponent++;
    }
    return f64_pack(sign, exponent, high | (low != 0));
}

F64_FUNCTION f64 f64_divide(f64 a, f64 b) {
    int ea = f64_exponent(a), eb = f64_exponent(b);
    f64 sign = (a ^ b) & F64_SIGN;
    if (ea == 0x7ff) return (f64_is_nan(a) || eb == 0x7ff) ? F64_NAN : sign | F64_INFINITE;
    if (eb == 0x7ff) return f64_is_nan(b) ? F64_NAN : sign;
    if (!eb) return ea ? sign | F64_INFINITE : F64_NAN;
    if (!ea) return sign;
    f64 x = (a & F64_MANTISSA) | F64_HIDDEN, y = (b & F64_MANTISSA) | F64_HIDDEN, quotient = 1, digits;
    int exponent = ea - eb + 1023;
    if (x < y) {
        x <<= 1;
        exponent--;
    }
    x -= y;
    // Eleven bits of the quotient at a time: the remainder, below 2^53, leaves room for as many.
#define F64_STEP     \
    x <<= 11;        \
    digits = x / y;  \
    x -= digits * y; \
    quotient = (quotient << 11) | digits;
    F64_STEP F64_STEP F64_STEP F64_STEP F64_STEP
#undef F64_STEP
        return f64_pack(sign, exponent, (quotient << 7) | (x != 0));
}

// -1, 0 or 1; 2: one is not a number.
F64_FUNCTION int f64_compare(f64 a, f64 b) {
    if (f64_is_nan(a) || f64_is_nan(b)) return 2;
    if (f64_is_zero(a)) a = 0;
    if (f64_is_zero(b)) b = 0;
    long long x = a & F64_SIGN ? (long long)(F64_SIGN - a) : (long long)a;
    long long y = b & F64_SIGN ? (long long)(F64_SIGN - b) : (long long)b;
    return x < y ? -1 : x > y;
}
#define f64_less(a, b) (f64_compare((a), (b)) == -1)
#define f64_less_equal(a, b) (f64_compare((a), (b)) <= 0)
#define f64_equal(a, b) (f64_compare((a), (b)) == 0)

// Like std::min and std::max: the first argument unless the second is smaller or larger.
F64_FUNCTION f64 f64_minimum(f64 a, f64 b) {
    return f64_less(b, a) ? b : a;
}
F64_FUNCTION f64 f64_maximum(f64 a, f64 b) {
    return f64_less(a, b) ? b : a;
}

// Of an unsigned integer.
F64_FUNCTION f64 f64_of(f64 n) {
    if (!n) return 0;
    int exponent = 1023 + 62;
    if (n >> 63) {
        n = (n >> 1) | (n & 1);
        exponent++;
    } else {
        exponent -= f64_normalise(&n);
    }
    return f64_pack(0, exponent, n);
}
F64_INLINE f64 f64_of_signed(long long n) {
    return n < 0 ? f64_negate(f64_of((f64)-n)) : f64_of((f64)n);
}

// The unsigned integer below; 0 below 0 and for what is not a number, 2^63 - 1 above it.
F64_FUNCTION f64 f64_to(f64 a) {
    int exponent = f64_exponent(a);
    if (exponent < 1023 || (a & F64_SIGN) || f64_is_nan(a)) return 0;
    if (exponent >= 1023 + 63) return 0x7fffffffffffffffULL;
    f64 m = (a & F64_MANTISSA) | F64_HIDDEN;
    int shift = exponent - 1023 - 52;
    return shift >= 0 ? m << (shift & 63) : m >> (-shift & 63);
}

F64_FUNCTION f64 f64_floor(f64 a) {
    int exponent = f64_exponent(a);
    if (exponent >= 1023 + 52) return f64_is_nan(a) ? F64_NAN : a;
    if (!exponent) return a & F64_SIGN;
    if (exponent < 1023) return a & F64_SIGN ? F64_SIGN | F64_ONE : 0;
    f64 below = F64_MANTISSA >> ((exponent - 1023) & 63);
    if (!(a & below)) return a;
    if (a & F64_SIGN) a += below;  // the carry reaches the exponent if necessary
    return a & ~below;
}
#define f64_ceiling(a) f64_negate(f64_floor(f64_negate(a)))

F64_FUNCTION f64 f64_square_root(f64 a) {
    int exponent = f64_exponent(a);
    if (!exponent) return a & F64_SIGN;
    if (f64_is_nan(a) || (a & F64_SIGN)) return F64_NAN;
    if (exponent == 0x7ff) return a;
    f64 m = (a & F64_MANTISSA) | F64_HIDDEN;
    exponent -= 1023;
    m <<= 1 + (exponent & 1);
    // The root of m * 2^52, bit by bit: 53 bits, one more for rounding, and the remainder as the sticky bit.
    f64 root = 0, twice = 0, bit = F64_HIDDEN << 1;
    F64_LOOP
    for (int i = 0; i < 54; i++) {
        // Without a branch: the verifier would follow all 2^54 ways. Nor with a mask of -1 or 0: since Linux 6.18 it
        // follows both values of `x & mask`. The assembler statement keeps clang from making such a mask.
        f64 trial = twice + bit, fits = 1 ^ ((m - trial) >> 63);
        __asm__ volatile("" : "+r"(fits));
        twice += (bit << 1) * fits;
        m -= trial * fits;
        root += bit * fits;
        m <<= 1;
        bit >>= 1;
    }
    return f64_pack(0, (exponent >> 1) + 1023, (root << 9) | (m != 0));
}

// cube_root() of core/cc/cube_root.h, operation by operation.
F64_FUNCTION f64 f64_cube_root_of_positive(f64 x) {
    if (f64_is_zero(x)) return 0;
    f64 y = x / 3 + 0x2a9f7893782da1ceULL;
    F64_LOOP
    for (int i = 0; i < 5; i++)
        y = f64_divide(f64_add(f64_multiply(F64_TWO, y), f64_divide(x, f64_multiply(y, y))), 0x4008000000000000ULL);
    return y;
}
F64_FUNCTION f64 f64_cube_root(f64 x) {
    if (f64_is_nan(x)) return F64_NAN;
    f64 size = f64_cube_root_of_positive(f64_absolute(x));
    return x & F64_SIGN && !f64_is_zero(x) ? f64_negate(size) : size;
}

#define F64_LN2 0x3fe62e42fefa39efULL

// natural_log() of core/cc/power.h, for finite x > 0.
F64_FUNCTION f64 f64_natural_log(f64 x) {
    if (f64_exponent(x) == 0x7ff || (x & F64_SIGN) || f64_is_zero(x)) return F64_NAN;
    int binary = f64_exponent(x) - 1022;
    f64 fraction = (x & F64_MANTISSA) | F64_HALF;
    if (f64_less(fraction, 0x3fe6a09e667f3bcdULL)) {
        fraction += F64_HIDDEN;
        binary--;
    }
    f64 s = f64_divide(f64_subtract(fraction, F64_ONE), f64_add(fraction, F64_ONE));
    f64 square = f64_multiply(s, s), series = 0;
    F64_LOOP
    for (int k = 21; k >= 1; k -= 2)
        series = f64_add(f64_multiply(series, square), f64_divide(F64_ONE, f64_of((f64)k)));
    f64 whole = f64_multiply(f64_of_signed(binary), F64_LN2);
    return f64_add(whole, f64_multiply(f64_multiply(F64_TWO, s), series));
}

// exponential() of core/cc/power.h.
F64_FUNCTION f64 f64_exponential(f64 y) {
    if (f64_exponent(y) == 0x7ff) return F64_NAN;
    if (f64_less(0x4087700000000000ULL, y)) return F64_INFINITE;  // 750
    if (f64_less(y, 0x4087700000000000ULL | F64_SIGN)) return 0;  // -750
    f64 n = f64_floor(f64_add(f64_divide(y, F64_LN2), F64_HALF));
    f64 r = f64_subtract(y, f64_multiply(n, F64_LN2)), series = F64_ONE;
    F64_LOOP
    for (int k = 15; k >= 1; k--) series = f64_add(F64_ONE, f64_divide(f64_multiply(series, r), f64_of((f64)k)));
    long long power = (long long)f64_to(f64_absolute(n));
    if (n & F64_SIGN) power = -power;
    long long exponent = f64_exponent(series) + power;
    if (exponent <= 0) return 0;
    if (exponent >= 0x7ff) return F64_INFINITE;
    return (series & F64_MANTISSA) | ((f64)exponent << 52);
}

// raised() of core/script/machine.cpp.
F64_FUNCTION f64 f64_power(f64 x, f64 y) {
    if (f64_is_zero(y)) return F64_ONE;
    if (f64_is_nan(x) || f64_is_nan(y)) return F64_NAN;
    if (f64_is_zero(x)) return y & F64_SIGN ? F64_NAN : 0;
    if (x & F64_SIGN && y != f64_floor(y)) return F64_NAN;
    f64 size = f64_exponential(f64_multiply(y, f64_natural_log(f64_absolute(x))));
    if (!(x & F64_SIGN)) return size;
    f64 half = f64_multiply(y, F64_HALF);
    return half == f64_floor(half) ? size : f64_negate(size);
}

// Times are whole nanoseconds, as to_seconds() and from_seconds() of core/units.h convert them.
#define F64_NANO 0x3e112e0be826d695ULL  // 1e-9
#define F64_GIGA 0x41cdcd6500000000ULL  // 1e9
F64_INLINE f64 f64_seconds(f64 nanoseconds) {
    return f64_multiply(f64_of(nanoseconds), F64_NANO);
}
F64_FUNCTION long long f64_nanoseconds(f64 seconds) {
    f64 rounded = f64_to(f64_add(f64_multiply(f64_absolute(seconds), F64_GIGA), F64_HALF));
    return seconds & F64_SIGN ? -(long long)rounded : (long long)rounded;
}
// time_difference() of core/script/filters.h.
F64_FUNCTION f64 f64_time_difference(f64 a, f64 b) {
    f64 exact = 0x41612a8800000000ULL;  // 9e6
    if (!f64_less(f64_absolute(a), exact) || !f64_less(f64_absolute(b), exact)) return f64_subtract(a, b);
    return f64_multiply(f64_of_signed(f64_nanoseconds(a) - f64_nanoseconds(b)), F64_NANO);
}
