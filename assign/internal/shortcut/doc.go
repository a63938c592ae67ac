// Package shortcut is the way in memory between the scheduler and the worker of one session, in one
// namespace.
//
// A process that leads may run tasks too. Then its two halves need no server to talk to each other.
// An assigner owns one Shortcut, and gives it to both. An assigner belongs to one session and one
// namespace. So neither another session of the same process nor another namespace is ever found
// here, whatever their names are.
//
// # Promises
//
//   - A message is given to the other side in the caller's goroutine, without a lock. The other
//     side puts it into its mailbox and returns.
//   - Messages of one caller arrive in the order in which they were given.
//   - A message goes over the connection as before if the other side is not there, belongs to
//     another lease, or has no room.
//   - An [End] that has left takes nothing that is given later. One that leaves does not remove its
//     successor.
//
// # Failures
//
// A message that is given while the other side leaves may be lost, like one on the server. Both
// sides repeat what is not answered.
//
// A frame that comes this way has no signature: the process itself has made it. The worker compares
// epoch, audience and session as with any other frame, and believes it only if its own session
// leads in its view.
package shortcut
