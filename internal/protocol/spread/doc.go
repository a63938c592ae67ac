// Package spread says which member leads which role of a group, so that each has its share. It has
// no I/O and no clock.
//
// Every process makes the same plan from the same view, so no coordinator is needed: a leader gives
// away what its plan moves, a candidate claims what its plan deals to it, and a target admits what
// its plan deals to it.
//
// Invariants.
//   - S1 The loads of a plan are those of Webster's method for what the members may take: no role
//     could move, by itself or with others that make room for it, from a member with a load l and
//     a weight w to one with l' and w' so that (2l-1)/w > (2l'+1)/w'. Members of one weight that
//     may take the same roles differ by one at most.
//   - S2 Vacant roles are dealt out in the order in which they fell vacant, each to the member with
//     the least projected load. So a member that has seen a part of them deals those as one that
//     has seen all. Those that everybody waits for before they can be claimed, since they were lost
//     or taken by force, are dealt out last. So one that sees the others claimed deals them as one
//     that does not yet. Of the lost ones themselves nobody knows which can be claimed first. So
//     what is vacant is dealt out again when one was claimed, also by ourselves.
//   - S3 A role stays where it is, but for a load that is too large. So a plan that was carried out
//     is followed by one without moves.
//   - S4 A target counts what it leads, has claimed and has promised.
//   - S5 The role that has been led for longest moves first, and none to a member of lower
//     priority.
//   - S6 Two roles that are to be apart are led by one member only if nobody else may take either
//     of them.
//
// Nobody leads more roles than its cap. A role that only full members could take is unplaced.
package spread
