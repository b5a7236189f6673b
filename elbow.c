/* written by geared-dynamics */
#include "elbow.h"

#include <math.h>

int elbow_gravity_forces(const double q[3], double out[3])
{
    const double t5 = cos(q[1]);
    const double t6 = sin(q[1]);
    const double t8 = t6 * 0x1.39eb851eb851fp+3;
    const double t9 = t5 * 0x1.39eb851eb851fp+3;
    const double t11 = t5 * 0x1.428d844d013a9p+5;
    const double t12 = cos(q[2]);
    const double t13 = sin(q[2]);
    const double t17 = t9 * t12;
    const double t18 = t8 * t13;
    const double t19 = t17 - t18;
    const double t21 = t19 * 0x1.8000000000000p-1;
    const double t22 = t11 + t21;
    out[0] = 0x0.0p+0;
    out[1] = t22;
    out[2] = t21;
    return 0;
}
