// Package natsconn makes a shared NATS connection safe for a loop that must not block.
//
//   - A Sender sends in order, from a goroutine of its own.
//   - Within and Soon are for calls that may hang while the peer's TCP is frozen.
//   - Subscribe and WatchDenials report what the server denies, which looks like silence.
//   - Refused says that a server does not know the user, or does not know it any more.
//   - UntilReconnect is for requests that a lost connection never answers.
//
// The package knows no records or subjects of this module. It changes no handler of the connection.
package natsconn
