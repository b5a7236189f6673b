/* written by geared-dynamics */
/* Dynamics of elbow, coupling of its rotors: complete.
 *
 * Coordinates, in this order:
 *   0 joint_1
 *   1 joint_2
 *   2 joint_3
 * Motors:
 *   0 motor_1
 *   1 motor_2
 *   2 motor_3
 *
 * Forces are on the joint side, in N m or N. Inputs must be finite and must not share
 * memory with out. A function returns 0, or 1 where out is of no use because the mass
 * matrix is not positive definite or a spring has no force.
 */
#ifndef ELBOW_H
#define ELBOW_H

#define ELBOW_JOINTS 3
#define ELBOW_MOTORS 3

#ifdef __cplusplus
extern "C" {
#endif

/* q: joint positions [rad or m];
 * out: joint force that holds the arm still. */
int elbow_gravity_forces(const double q[3], double out[3]);

#ifdef __cplusplus
}
#endif

#endif
