/* written by geared-dynamics */
#include "elbow.h"

#include <math.h>
#include <stdio.h>

static int differs(const char *name, int count, const double *got, const double *expected)
{
    double largest = 0x0.0p+0, error = 0x0.0p+0;
    int k;
    for (k = 0; k < count; k++) {
        const double size = fabs(expected[k]);
        const double apart = fabs(got[k] - expected[k]);
        if (size != size) {  /* unknown: so must the result be */
            error = got[k] == got[k] ? 0x1.0000000000000p+0 : error;
            continue;
        }
        largest = size > largest ? size : largest;
        error = apart > error || apart != apart ? apart : error;
    }
    error = error / (largest > 0x0.0p+0 ? largest : 0x1.0000000000000p+0);
    printf("%s: %.1e\n", name, (double)error);
    return !(error <= 0x1.19799812dea11p-40);
}

int main(void)
{
    int wrong = 0;
    {
        const double q[] = {0x1.a4bf0dbe351e0p-1, -0x1.619b8c2ceee52p+0, -0x1.6088470413964p+1};
        const double expected[] = {-0x1.5db6cbd05747ep-52, 0x1.ca84ea902dd97p+1, -0x1.00d9e590af3fcp+2};
        double out[3];
        wrong += elbow_gravity_forces(q, out) != 0;
        wrong += differs("gravity_forces", 3, out + 0, expected + 0);
    }
    {
        const double q[] = {-0x1.734e88ddc6373p+1, 0x1.e12eded10d35ep+0, 0x1.3cff0c6cf2c04p+1};
        const double expected[] = {-0x1.df25bbe3489e5p-51, -0x1.da4157a785472p+3, -0x1.486faa62f35a6p+1};
        double out[3];
        wrong += elbow_gravity_forces(q, out) != 0;
        wrong += differs("gravity_forces", 3, out + 0, expected + 0);
    }
    {
        const double q[] = {0x1.4795c9520b244p-1, 0x1.6081b83fd30f9p+0, 0x1.0c082db72cab4p-2};
        const double expected[] = {-0x1.161cfe99d36fap-51, 0x1.d10a63e2e48c8p+2, -0x1.ff6b435a2107ap-2};
        double out[3];
        wrong += elbow_gravity_forces(q, out) != 0;
        wrong += differs("gravity_forces", 3, out + 0, expected + 0);
    }
    {
        const double q[] = {0x1.4e22b816ae042p+1, 0x1.e526abcfaa012p+0, -0x1.7de596c5fcc45p+1};
        const double expected[] = {-0x1.5c8f206eabff6p-51, -0x1.2df05c24e0a1cp+3, 0x1.b4d88aee641cap+1};
        double out[3];
        wrong += elbow_gravity_forces(q, out) != 0;
        wrong += differs("gravity_forces", 3, out + 0, expected + 0);
    }
    {
        const double q[] = {0x1.127c8a3e2eb4dp+1, -0x1.6634cea556495p+1, 0x1.60c0322e96deep+0};
        const double expected[] = {-0x1.9403352f465abp-50, -0x1.26f14a152d352p+5, 0x1.19ebd6e9920d6p+0};
        double out[3];
        wrong += elbow_gravity_forces(q, out) != 0;
        wrong += differs("gravity_forces", 3, out + 0, expected + 0);
    }
    {
        const double q[] = {-0x1.f2316644eba94p+0, 0x1.16ebe1ae44926p+1, 0x1.fd79b8b10f968p-3};
        const double expected[] = {-0x1.0147d5383e974p-51, -0x1.c9a2654883453p+4, -0x1.63f180ace1faep+2};
        double out[3];
        wrong += elbow_gravity_forces(q, out) != 0;
        wrong += differs("gravity_forces", 3, out + 0, expected + 0);
    }
    {
        const double q[] = {-0x1.33a47d3f8481ap+0, -0x1.db027c8c745c8p-2, -0x1.6a402047ca502p+1};
        const double expected[] = {-0x1.fb087ed298a89p-52, 0x1.cc93e48fb46e3p+4, -0x1.d16cbb53625b3p+2};
        double out[3];
        wrong += elbow_gravity_forces(q, out) != 0;
        wrong += differs("gravity_forces", 3, out + 0, expected + 0);
    }
    {
        const double q[] = {-0x1.208ce9dffbe3ap+1, 0x1.06143ff60cb97p+0, 0x1.c42a8abe4eb28p-1};
        const double expected[] = {0x1.fb63f2ae1a84fp-51, 0x1.28bdae442dd1ep+4, -0x1.3696a56fa7c0ep+1};
        double out[3];
        wrong += elbow_gravity_forces(q, out) != 0;
        wrong += differs("gravity_forces", 3, out + 0, expected + 0);
    }
    if (wrong)
        printf("%d wrong\n", wrong);
    else
        printf("all right\n");
    return wrong != 0;
}
