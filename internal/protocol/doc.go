// Package protocol is the rules of sessions, roles and terms as one transition function: what
// happened, and when, goes in; what is to be done comes out. It does no I/O and has no goroutine,
// no clock and no logger.
//
// The epoch identifies a term: the revision of the c.role.<role> record that granted it. The
// session that holds it and a random token identify it too. A session is identified by the revision
// of the first write of its lease, an incarnation of it by a random nonce.
//
// The bucket alone is authoritative, by compare-and-swap. A read proves nothing, nor does a timer,
// a marker or a missing key. A refused write proves only that the key holds something newer. The
// watch tells the effect of a write of unknown outcome.
//
// Local time decides two things only: when this process stops trusting itself, and from when it may
// try to end the session of another process. It never decides that another process has stopped.
//
// The trust window, with L the lease time in the record and G the margin: the holder sends a beat
// at t on its clock, and trusts it until t + L - G. An observer sees the beat first at o, which is
// not before t, and may kill the session at o + L on its own clock.
//
// # Invariants
//
//   - I1 No two processes trust a term of one role at the same time, as long as clock rates differ
//     by less than G/L and the store keeps what it has acknowledged. This holds under forced
//     evictions, markers over live leases and deleted keys.
//   - I2 Epochs of a role strictly increase; one holder has each.
//   - I3 With a store that answers and one healthy candidate a role is led again within L, a stream
//     election and δ. Work that does not drain is excepted and reported as stuck. A holder that was
//     put out by force, alone or not, stays out for its cool-down.
//   - I4 The highest eligible candidate that takes over leads within a bound after the last change,
//     after at most one more hand-over.
//   - I5 A write that is guarded by an epoch is refused once a later epoch exists. The store sees
//     to that; the machine proves leadership by such a write (Validate).
//
// Within the machine these hold between steps:
//
//   - a term is begun only over a record that carries the token of our own claim, our session and
//     our instance
//   - at most one claim, vacate or rotation is in flight for a role, one heartbeat and one member
//     record for the session
//   - no term of a role begins before the work of the last one in this process has drained
//   - no term continues once a whole watch has shown something later than its record, and not the
//     record, nor one of ours in its place; an open rotation puts that off by L less G
//   - trust never ends later than the last acknowledged heartbeat was sent plus its L less its G,
//     and never later than that counted from the newest short heartbeat that the watch has shown
//   - while trust can be lost and the watch is late, no role is written before all is seen that was
//     written of roles
//   - a write whose condition is that its key is absent counts only when the watch shows it
//   - every effect that asks for something is answered by one event, and every command by one Done
//
// # Failures
//
// Written{Unknown} is tried again with a growing wait and resolved by the watch. Written{Fault} and
// Broken end the machine, with Ended as its last effect; so does a store that has lost what was
// known of it. A machine whose session is lost opens the next one by itself.
//
// # Where to look
//
// ARCHITECTURE.md has a table of the rules and their files. Package record has the keys and records
// of the bucket. Package view has what the watch has shown.
//
// The simulation in propertytests/model/electionsim checks the invariants over drawn schedules. It
// also takes out each rule to see that it is missed.
package protocol
