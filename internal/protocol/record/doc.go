// Package record is what the bucket holds: the keys, the records of leases, members and roles, and
// how they are encoded and decoded. Beside them it has the points in time of one process and what
// is known of a write. It does no I/O.
//
//	c.lease.<instance>   Lease    a session, rewritten by every heartbeat
//	c.member.<instance>  Member   what the instance says about itself
//	c.role.<role>        Role     the holder of the role, or a vacancy
//
// Decode never fails. A value that cannot be read becomes an Entry too, since rules apply to it.
// Records of a later version are never acted upon.
package record
