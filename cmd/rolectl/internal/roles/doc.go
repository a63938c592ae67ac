// Package roles holds the commands that look at roles and hand them over: roles, inspect, members,
// watch, step-down and transfer.
//
// A hand-over reads the role, asks the user, and then acts only at the epoch that the user was
// shown. Afterwards it follows the role's record until somebody leads again, and prints how long
// nobody led.
package roles
