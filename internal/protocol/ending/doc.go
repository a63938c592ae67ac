// Package ending is what somebody may write about a process that has certainly ended: a guard,
// which has seen the end of it. It has no I/O and no clock.
//
// The belief of a session lives in the memory of one process. When no thread of that process runs
// any more, its session can be ended at once, and nobody has to wait for its TTL.
//
// Invariants.
//   - D1 Only a lease is ended that the ended process has named by its nonce, and only by a write
//     on the condition that exactly that lease still is there. A lease that is not there is not
//     replaced.
//   - D2 It is killed, never closed: the process is gone, and its work was not done. So the tasks
//     that it ran count as lost.
//   - D3 An incarnation that was about to open can be ended too. The one before it stays known
//     until the new one is acknowledged: either may be there.
//   - D4 After MostRefusals refusals the TTL decides, as it does without any evidence.
//
// Writes that the process had sent may arrive later. Its beats are refused, because the lease has
// moved, and its claims name a session that is dead. Tokens protect all other places.
package ending
