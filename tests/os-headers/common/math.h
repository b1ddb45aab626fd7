/* SPDX-License-Identifier: MIT */
/* What is used of <math.h> of POSIX.1-2008. */
#ifndef OS_MATH_H
#define OS_MATH_H

#define NAN __builtin_nanf("")
#define isfinite(number) __builtin_isfinite(number)
#define isinf(number) __builtin_isinf(number)
#define isnan(number) __builtin_isnan(number)
#define INFINITY __builtin_inff()
#define HUGE_VAL __builtin_huge_val()

double atan2(double y, double x);
double ceil(double number);
double cos(double angle);
double erf(double number);
double erfc(double number);
double exp(double number);
double fabs(double number);
double floor(double number);
double fmax(double one, double other);
double fmin(double one, double other);
double fmod(double one, double other);
double lgamma(double number);
double log(double number);
double log2(double number);
double log10(double number);
double pow(double base, double power);
double rint(double number);
double round(double number);
double sin(double angle);
double sqrt(double number);
long long llround(double number);
long lround(double number);

#endif
