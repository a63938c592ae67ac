// Package guardlink is the line between a process and the guard that started it: one packet for
// each word that the process says about its leases.
//
// The guard makes a pair of sockets and passes one on. [Env] names its file descriptor. A process
// that has this package linked in takes the descriptor at its start: its own children inherit
// neither the descriptor nor the variable, so only this process speaks.
//
// A guard may also listen at a socket, which [SocketEnv] names. The process connects to it when it
// has something to say, and again when the guard has come back. The kernel tells such a guard who
// has sent each packet.
//
// Promises.
//   - Tell never waits. A packet that was told is with the guard, even when the process dies right
//     after that.
//   - The end of the line proves nothing: a process may close it and live on, and a child may keep
//     it open.
package guardlink
