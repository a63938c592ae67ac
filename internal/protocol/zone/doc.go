// Package zone orders the members of a role by where they are, and says when a leader gives its
// role back to a better zone. It has no I/O and no clock.
//
// A role names zones in an order. Its candidates are in tiers: those of the first zone, those of
// the second one, and last those of all other zones. A member says its tier and its rank within all
// tiers by itself, so that the others need not know the order. A zone that is drained is behind all
// tiers, for every role: its members lead what nobody else can.
package zone
